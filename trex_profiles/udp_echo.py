"""One datagram and its echo per UDP flow (RFC 862), from a new source port each time."""

import argparse
import os

from trex.astf.api import *


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
        parser.add_argument("--payload_bytes", type=int, default=100, help="UDP payload, each way")
        parser.add_argument("--port", type=int, default=7, help="server's UDP port")
        parser.add_argument("--clients", default="16.0.0.1-16.0.0.200", help="client addresses")
        parser.add_argument("--servers", default="48.0.0.1-48.0.0.1", help="server addresses")
        parser.add_argument("--cps", type=float, default=1, help="flows per second at multiplier 1")
        return self.create_profile(parser.parse_args(tunables))


def register():
    return UdpEcho()
