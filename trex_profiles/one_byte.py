"""One byte in each direction per TCP connection: the cost of the generator's own connection.

This is the smallest possible exchange, six frames; dperf has the same with a payload of one byte.
"""

import argparse
import os

from trex.astf.api import *


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
        parser.add_argument("--port", type=int, default=80, help="server's TCP port")
        parser.add_argument("--clients", default="16.0.0.1-16.0.0.200", help="client addresses")
        parser.add_argument("--servers", default="48.0.0.1-48.0.0.1", help="server addresses")
        parser.add_argument(
            "--cps", type=float, default=1, help="connections per second at multiplier 1"
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
