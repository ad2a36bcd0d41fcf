"""TRex profile of the interoperability matrix: the client sends a payload, the server one back."""

import argparse

from payload import UNIT
from trex.astf.api import (
    ASTFAssociationRule,
    ASTFGlobalInfo,
    ASTFIPGen,
    ASTFIPGenDist,
    ASTFIPGenGlobal,
    ASTFProfile,
    ASTFProgram,
    ASTFTCPClientTemplate,
    ASTFTCPServerTemplate,
    ASTFTemplate,
)


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

        addresses = ASTFIPGen(
            glob=ASTFIPGenGlobal(ip_offset="1.0.0.0"),
            dist_client=ASTFIPGenDist(ip_range=["16.0.0.1", "16.0.0.100"], distribution="seq"),
            dist_server=ASTFIPGenDist(ip_range=["48.0.0.1", "48.0.0.1"], distribution="seq"),
        )
        tuning = ASTFGlobalInfo()
        tuning.tcp.rxbufsize = args.buffer
        tuning.tcp.txbufsize = args.buffer
        tuning.tcp.mss = args.mss
        tuning.tcp.do_rfc1323 = args.rfc1323
        tuning.tcp.do_sack = args.sack
        tuning.tcp.do_ecn = args.ecn
        tuning.tcp.cc_algo = args.cc_algo
        tuning.tcp.keepinit = 30
        if args.ipv6:
            tuning.ipv6.enable = 1
            tuning.ipv6.src_msb = tuning.ipv6.dst_msb = "2001:db8::"
        return ASTFProfile(
            default_ip_gen=addresses,
            default_c_glob_info=tuning,
            default_s_glob_info=tuning,
            templates=ASTFTemplate(
                client_template=ASTFTCPClientTemplate(
                    program=client,
                    ip_gen=addresses,
                    port=args.port,
                    cps=args.cps,
                    limit=args.limit,
                ),
                server_template=ASTFTCPServerTemplate(
                    program=server, assoc=ASTFAssociationRule(port=args.port)
                ),
            ),
        )

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
