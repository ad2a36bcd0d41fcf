"""The process of TRex's own client; `stackcost.trex.client` starts it and calls its methods.

What the client prints goes to standard error. The end of standard input, also by the parent's
death, stops the traffic and ends the process.
"""

import contextlib
import os
import socket
import sys

from stackcost.contracts.errors import StackcostError
from stackcost.remote.answering import Replies, serve
from stackcost.trex.astf_client import AstfClient, explain
from stackcost.trex.trex_api import open_trex_api


def main() -> None:
    """Arguments: server, RPC port, async port, seconds to wait for an answer."""
    replies = Replies(os.fdopen(os.dup(sys.stdout.fileno()), "wb"))
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    server, rpc_port, async_port, answer_limit = sys.argv[1:]
    try:
        open_trex_api()
        client = AstfClient(server, int(rpc_port), int(async_port), float(answer_limit))
        serve(
            lambda: {AstfClient: client},
            sys.stdin.buffer,
            replies,
            version="",  # it is the code of the parent
            explain=explain,
            in_turn=True,
        )
    except StackcostError as error:
        sys.exit(str(error))
    with contextlib.suppress(Exception):
        # TRex's own client waits for seconds on a server that has ended.
        socket.create_connection((server, int(rpc_port)), timeout=1).close()
        client.disconnect()
    os._exit(0)  # the client's threads and sockets end with the process, whatever they wait for


if __name__ == "__main__":
    main()
