"""One byte in each direction per TCP connection: the cost of the generator's own connection.

This is the smallest possible exchange, six frames; dperf has the same with a payload of one byte.
"""

import argparse
import ipaddress
import os

from trex.astf.api import *


def bounded(kind, least, most):
    """The type of an option: a number from `least` to `most`. An error names the option."""

    def number(text):
        value = kind(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError("%s is not from %g to %g" % (text, least, most))
        return value

    number.__name__ = kind.__name__  # named in the error for a text that is no number
    return number


def address_range(text):
    """The type of an option: two IPv4 addresses, the first and the last, with "-" between."""
    try:
        first, last = map(ipaddress.IPv4Address, text.split("-"))
    except ValueError:
        first, last = 1, 0
    if first > last:
        raise argparse.ArgumentTypeError("%s is not FIRST-LAST, two IPv4 addresses" % text)
    return text


class OneByte:
    """One template. The client sends a byte; the server's byte has its FIN with it."""

    def create_profile(self, args):
        client = ASTFProgram()
        client.send(b"a")
        client.recv(1)

        server = ASTFProgram()
        server.set_send_blocking(False)  # it closes without waiting for the acknowledgment
        server.recv(1)
        server.send(b"b")

        addresses = ASTFIPGen(
            glob=ASTFIPGenGlobal(ip_offset="1.0.0.0"),
            dist_client=ASTFIPGenDist(ip_range=args.clients.split("-"), distribution="seq"),
            dist_server=ASTFIPGenDist(ip_range=args.servers.split("-"), distribution="seq"),
        )
        tcp = ASTFGlobalInfo()
        tcp.tcp.do_rfc1323 = args.rfc1323
        return ASTFProfile(
            default_ip_gen=addresses,
            default_c_glob_info=tcp,
            default_s_glob_info=tcp,
            templates=ASTFTemplate(
                client_template=ASTFTCPClientTemplate(
                    program=client, ip_gen=addresses, port=args.port, cps=args.cps
                ),
                server_template=ASTFTCPServerTemplate(
                    program=server, assoc=ASTFAssociationRule(port=args.port)
                ),
            ),
        )

    def get_profile(self, tunables, **kwargs):
        parser = argparse.ArgumentParser(
            description="Argparser for {}".format(os.path.basename(__file__)),
            formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        )
        parser.add_argument(
            "--port", type=bounded(int, 1, 65535), default=80, help="server's TCP port"
        )
        parser.add_argument(
            "--clients", type=address_range, default="16.0.0.1-16.0.0.200", help="client addresses"
        )
        parser.add_argument(
            "--servers", type=address_range, default="48.0.0.1-48.0.0.1", help="server addresses"
        )
        parser.add_argument(
            "--cps",
            type=bounded(float, 1e-6, 1e9),
            default=1,
            help="connections per second at multiplier 1",
        )
        parser.add_argument(
            "--rfc1323",
            type=int,
            choices=(0, 1),
            default=1,
            help="TCP's time stamps and window scaling; without them frames are as dperf's",
        )
        return self.create_profile(parser.parse_args(tunables))


def register():
    return OneByte()
