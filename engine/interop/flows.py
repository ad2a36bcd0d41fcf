"""TRex profile of the interoperability matrix: the client sends a payload, the server one back."""

import argparse

from one_template import one_template
from payload import UNIT
from trex.astf.api import ASTFGlobalInfo, ASTFProgram


def send(program, size):
    """Send the payload of `size` bytes."""
    program.send(UNIT[:size], size=size, fill=UNIT)


class Flows:
    """One template; both payloads have the same length."""

    def create_profile(self, args):
        """The profile for parsed arguments."""
        client = ASTFProgram()
        send(client, args.size)
        client.recv(args.size)

        server = ASTFProgram()
        server.recv(args.size)
        send(server, args.size)

        tuning = ASTFGlobalInfo()
        tuning.tcp.rxbufsize = args.buffer
        tuning.tcp.txbufsize = args.buffer
        tuning.tcp.mss = args.mss
        tuning.tcp.do_rfc1323 = args.rfc1323
        tuning.tcp.do_sack = args.sack
        tuning.tcp.do_ecn = args.ecn
        tuning.tcp.cc_algo = args.cc_algo
        if args.ipv6:
            tuning.ipv6.enable = 1
            tuning.ipv6.src_msb = tuning.ipv6.dst_msb = "2001:db8::"
        return one_template(client, server, tuning, args)

    def get_profile(self, tunables, **kwargs):
        """What TRex calls."""
        parser = argparse.ArgumentParser()
        parser.add_argument("--size", type=int, required=True, help="bytes each way")
        parser.add_argument("--port", type=int, required=True)
        parser.add_argument("--cps", type=float, default=100)
        parser.add_argument("--limit", type=int, default=1, help="flows in all")
        parser.add_argument("--buffer", type=int, default=1 << 20, help="receive, transmit buffer")
        parser.add_argument("--mss", type=int, default=1460)
        parser.add_argument("--rfc1323", type=int, default=1)
        parser.add_argument("--sack", type=int, default=1)
        parser.add_argument("--ecn", type=int, default=1)
        parser.add_argument("--cc_algo", type=int, default=0)
        parser.add_argument("--ipv6", type=int, default=0, help="behind the prefix 2001:db8::")
        return self.create_profile(parser.parse_args(tunables))


def register():
    """What TRex looks for."""
    return Flows()
