"""One datagram and its echo per UDP flow (RFC 862), from a new source port each time."""

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


class UdpEcho:
    """One template. A flow ends when the client has received its echo."""

    def create_profile(self, args):
        payload = b"x" * args.payload_bytes

        client = ASTFProgram(stream=False)
        client.send_msg(payload)
        client.recv_msg(1)

        server = ASTFProgram(stream=False)
        server.recv_msg(1)
        server.send_msg(payload)

        addresses = ASTFIPGen(
            glob=ASTFIPGenGlobal(ip_offset="1.0.0.0"),
            dist_client=ASTFIPGenDist(ip_range=args.clients.split("-"), distribution="seq"),
            dist_server=ASTFIPGenDist(ip_range=args.servers.split("-"), distribution="seq"),
        )
        return ASTFProfile(
            default_ip_gen=addresses,
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
            "--payload_bytes", type=bounded(int, 1, 1472), default=100, help="UDP payload, each way"
        )
        parser.add_argument(
            "--port", type=bounded(int, 1, 65535), default=7, help="server's UDP port"
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
            help="flows per second at multiplier 1",
        )
        return self.create_profile(parser.parse_args(tunables))


def register():
    return UdpEcho()
