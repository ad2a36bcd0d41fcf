"""TRex profile of the TLS matrix: a request for a page, and a page whose bytes are known."""

import argparse

from payload import HEAD, REQUEST, page
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


class Flows:
    """One template."""

    def create_profile(self, args):
        """The profile for parsed arguments."""
        body = page(args.size)
        head = b"x" * args.head if args.peer_head else HEAD % args.size
        client = ASTFProgram()
        client.send(body if args.echo else REQUEST)
        client.recv(len(head) + len(body))

        server = ASTFProgram()
        server.recv(16)  # bytes: no request of any client is shorter
        server.send(head + body)

        addresses = ASTFIPGen(
            glob=ASTFIPGenGlobal(ip_offset="1.0.0.0"),
            dist_client=ASTFIPGenDist(ip_range=["16.0.0.1", "16.0.0.100"], distribution="seq"),
            dist_server=ASTFIPGenDist(ip_range=["48.0.0.1", "48.0.0.1"], distribution="seq"),
        )
        tuning = ASTFGlobalInfo()
        tuning.tcp.keepinit = 30
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
        parser.add_argument("--size", type=int, required=True, help="bytes of the page")
        parser.add_argument("--port", type=int, required=True)
        parser.add_argument("--peer_head", type=int, default=0, help="the head is a real server's")
        parser.add_argument("--head", type=int, default=0, help="bytes of that")
        parser.add_argument("--echo", type=int, default=0, help="the request is the page, too")
        parser.add_argument("--cps", type=float, default=20)
        parser.add_argument("--limit", type=int, default=1, help="flows in all")
        return self.create_profile(parser.parse_args(tunables))


def register():
    """What TRex looks for."""
    return Flows()
