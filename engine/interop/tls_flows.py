"""TRex profile of the TLS matrix: a request for a page, and a page whose bytes are known."""

import argparse

from one_template import one_template
from payload import HEAD, REQUEST, page
from trex.astf.api import ASTFGlobalInfo, ASTFProgram


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

        return one_template(client, server, ASTFGlobalInfo(), args)

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
