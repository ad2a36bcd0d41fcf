"""The process of TRex's own client; stackcost.trex.client starts it and sends it requests.

One JSON object a line: {"number", "method", "arguments"} comes on standard input, {"number"} with
"result" or "error" goes to standard output. What the client prints goes to standard error. The end
of standard input, also by the parent's death, stops the traffic and ends the process.
"""

import contextlib
import io
import json
import os
import re
import sys
from typing import IO, Any

from stackcost.contracts.errors import StackcostError
from stackcost.trex.captures import check_captures
from stackcost.trex.trex_api import open_trex_api

COLOURS = re.compile(r"\x1b\[[0-9;]*m")
PLACE = re.compile(r'File "([^"]+)", line (\d+)')


class AstfClientService:
    """One ASTFClient. Its public methods are the requests of the parent process."""

    def __init__(self, server: str, rpc_port: int, async_port: int, answer_limit: float):
        from trex.astf.api import ASTFClient, ASTFProfile

        check_captures()
        self._load_profile_file = ASTFProfile.load
        self._client = ASTFClient(
            username="stackcost",
            server=server,
            sync_port=rpc_port,
            async_port=async_port,
            verbose_level="error",
            sync_timeout=answer_limit,
            async_timeout=answer_limit,
        )

    def connect(self) -> None:
        """Connect; the client gives up after its `answer_limit` without an answer."""
        self._client.connect()

    def reset(self) -> None:
        """Acquire the ports by force, stop and unload everything, and clear the statistics."""
        self._client.reset()

    def profile_json(self, path: str, tunables: dict[str, Any]) -> dict[str, Any]:
        """The profile as the server would receive it; needs no connection."""
        profile: dict[str, Any] = json.loads(self._read(path, tunables).to_json_str())
        return profile

    def load_profile(self, path: str, tunables: dict[str, Any], pid_input: str) -> None:
        """Upload a profile file."""
        self._client.load_profile(self._read(path, tunables), pid_input=pid_input)

    def start(self, **arguments: Any) -> None:
        """Start, and return once the server transmits."""
        self._client.start(**arguments)

    def update(self, mult: float) -> None:
        """Change the rate of running traffic."""
        self._client.update(mult)

    def is_traffic_active(self) -> bool:
        """Whether a port transmits or cleans up, according to the server's events."""
        return bool(self._client.is_traffic_active())

    def stats(self) -> dict[str, Any]:
        """All statistics, counters of zero included."""
        statistics: dict[str, Any] = self._client.get_stats(skip_zero=False)
        return statistics

    def group_stats(self, pid_input: str) -> dict[str, Any]:
        """Counters of each template group by its name, of zero included."""
        names = self._client.get_tg_names(pid_input)
        groups: dict[str, Any] = self._client.get_traffic_tg_stats(
            names, skip_zero=False, pid_input=pid_input
        )
        return groups

    def clear_stats(self) -> None:
        """From now on count from zero."""
        self._client.clear_stats()

    def stop(self) -> None:
        """Stop every profile; returns when the server has cleaned up."""
        self._client.stop(pid_input="*")

    def disconnect(self) -> None:
        """Stop the traffic, release the ports and close the connection."""
        self._client.disconnect()

    def call(self, method: str, params: dict[str, Any]) -> Any:
        """One RPC through the client's own connection, even one that the client does not know."""
        from trex.astf.api import TRexError

        owner = {"handler": self._client.handler}  # asked for by methods that change something
        reply = self._client._transmit(method, owner | params)
        if not reply:
            raise TRexError(reply.err())
        return reply.data()

    def _read(self, path: str, tunables: dict[str, Any]) -> Any:
        sys.argv[0] = path  # the name its argument parser complains under
        printed = io.StringIO()
        with contextlib.redirect_stderr(printed):
            profile = self._load_profile_file(path, **tunables)
        if profile is None:  # it left by SystemExit, as argument parsers do
            raise ValueError(printed.getvalue().strip() or f"{path} ended without a profile")
        return profile


def explain(error: Exception) -> str:
    """An error as text for a user; of a traceback only the last line and the profile's line."""
    text = COLOURS.sub("", str(error)).strip() or type(error).__name__
    if "Traceback follows" not in text:
        return text
    places = [place for place in PLACE.findall(text) if "lbr_trex_client" not in place[0]]
    where = f" ({places[-1][0]}, line {places[-1][1]})" if places else ""
    return text.splitlines()[-1] + where


def serve(session: AstfClientService, requests: IO[str], replies: IO[str]) -> None:
    """Answer requests in turn until there are no more; an error is also an answer."""
    for line in requests:
        request = json.loads(line)
        reply = {"number": request["number"]}
        try:
            reply["result"] = getattr(session, request["method"])(**request["arguments"])
        except Exception as error:
            reply["error"] = explain(error)
        print(json.dumps(reply), file=replies, flush=True)


def main() -> None:
    """Arguments: server, RPC port, async port, seconds to wait for an answer."""
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        open_trex_api()
    except StackcostError as error:
        sys.exit(str(error))
    server, rpc_port, async_port, answer_limit = sys.argv[1:]
    session = AstfClientService(server, int(rpc_port), int(async_port), float(answer_limit))
    serve(session, sys.stdin, replies)
    with contextlib.suppress(Exception):
        session.disconnect()
    os._exit(0)  # the client's threads and sockets end with the process, whatever they wait for


if __name__ == "__main__":
    main()
