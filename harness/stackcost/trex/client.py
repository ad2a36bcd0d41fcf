"""TRex's ASTF API for the harness: the real client, in a separate process.

The process (stackcost.trex.client_process) runs where the server's RPC ports are reachable. Every
call has a time limit; a server that fails, hangs or dies ends as a StackcostError.
"""

import contextlib
import json
import os
import select
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, Any, Self

from stackcost.contracts.errors import StackcostError
from stackcost.host.liveness import check_lives
from stackcost.host.patience import on_a_slow_host, patient
from stackcost.host.waiting import wait_until
from stackcost.trex.process import Spawn, last_lines, spawn_here

CALL_LIMIT = 30.0  # seconds; the client itself gives up on a silent server before
ANSWER_LIMIT = 3.0  # seconds; the client's own default. Once connected it waits four times
END_PATIENCE = 5.0  # seconds for stopping the traffic when closing
ALL_CLIENTS = 0xFFFFFFFF  # the TRex API's default mask
ONLY = "_"  # the TRex API's identifier of a profile that has been given none
POLL = 0.1  # seconds between looks at whether traffic goes on


class TrexClient:
    """A connection to one ASTF server. A context manager; leaving it stops the traffic.

    `spawn` starts the client's process, in the namespace the server listens in. Threads may share
    it: a collector reads while the run is driven.
    """

    def __init__(
        self,
        spawn: Spawn = spawn_here,
        server: str = "127.0.0.1",
        rpc_port: int = 4501,
        async_port: int = 4500,
    ):
        self._address = f"{server}:{rpc_port}"
        self._methods: frozenset[str] = frozenset()
        self._lock = threading.Lock()  # one request at a time
        self._number = 0
        self._received = b""
        self._fault: StackcostError | None = None
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115, closed by close
        answer_limit = str(patient(ANSWER_LIMIT))
        module = [sys.executable, "-P", "-m", "stackcost.trex.client_process"]
        self._process = spawn(
            [*module, server, str(rpc_port), str(async_port), answer_limit],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,  # Ctrl-C is for the harness, which then closes this
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._requests: IO[bytes] = self._process.stdin
        self._replies: IO[bytes] = self._process.stdout

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def process_id(self) -> int:
        """Process id of the client's process."""
        return self._process.pid

    def check(self) -> None:
        """StackcostError if the client's process has ended, or is or was stopped."""
        if self._fault:
            raise self._fault
        check_lives(self.process_id, "the TRex client has failed: its program")

    def connect(self) -> None:
        """Connect to the server; it must be serving already."""
        self._ask("connect")
        self._methods = frozenset(self.call("get_supported_cmds", {}))

    def reset(self) -> None:
        """Take the ports by force, stop and unload everything, clear the statistics."""
        self._ask("reset")

    def profile_json(self, path: Path, tunables: dict[str, Any] | None = None) -> dict[str, Any]:
        """The JSON that the server would receive for a profile file; needs no connection."""
        return dict(self._ask("profile_json", path=str(path.resolve()), tunables=tunables or {}))

    def load_profile(
        self, path: Path, tunables: dict[str, Any] | None = None, profile: str = ONLY
    ) -> None:
        """Upload a TRex profile file; `tunables` become its arguments, --name value.

        `profile`: its identifier; several profiles can run at the same time.
        """
        self._ask(
            "load_profile", path=str(path.resolve()), tunables=tunables or {}, pid_input=profile
        )

    def start(
        self,
        mult: float,
        duration: float = -1,
        nc: bool = False,
        client_mask: int = ALL_CLIENTS,
        t_duration: float = 0,
        profile: str = ONLY,
    ) -> None:
        """Start the loaded profile; returns once the server transmits.

        `mult` multiplies the profile's connections per second, `duration` is in seconds (negative:
        until stopped), `nc` cuts flows that are open at the end instead of letting them finish.
        `client_mask` has a bit for each port that opens connections; 0: it only serves.
        `t_duration`: seconds after which flows still open behind the duration are cut; 0: never.
        """
        self._ask(
            "start",
            mult=mult,
            duration=duration,
            nc=nc,
            client_mask=client_mask,
            t_duration=t_duration,
            pid_input=profile,
        )

    def update(self, mult: float) -> None:
        """Change the multiplier of running traffic."""
        self._ask("update", mult=mult)

    def is_traffic_active(self) -> bool:
        """Whether the server transmits or still cleans up."""
        return bool(self._ask("is_traffic_active"))

    def wait_on_traffic(self, timeout: float) -> None:
        """Return when the traffic and all its flows have ended.

        StackcostError if that takes more than `timeout` seconds; the traffic then continues.
        """
        if not wait_until(lambda: not self.is_traffic_active(), timeout, POLL):
            raise StackcostError(f"the traffic did not end within {timeout:g} s")

    def stats(self) -> dict[str, Any]:
        """The client's get_stats(): "global", "traffic" (client and server), "latency", and ports.

        Zero counters are included. Keys are strings throughout, ports are "0", "1", ..., "total".
        """
        return dict(self._ask("stats"))

    def group_stats(self, profile: str = ONLY) -> dict[str, Any]:
        """The client's get_traffic_tg_stats(): "client" and "server" counters by template group."""
        return dict(self._ask("group_stats", pid_input=profile))

    def clear_stats(self) -> None:
        """Count from zero from now on."""
        self._ask("clear_stats")

    def stop(self) -> None:
        """Abort all flows without notice to their peers, and return when the server is idle."""
        self._ask("stop")

    def disconnect(self) -> None:
        """Stop the traffic, release the ports and end the connection."""
        self._ask("disconnect")

    def supports(self, method: str) -> bool:
        """Whether the connected server has this RPC method; TRex lacks those of astf-engine."""
        return method in self._methods

    def call(self, method: str, params: dict[str, Any]) -> Any:
        """The result of one RPC method, even if the TRex API does not cover it."""
        return self._ask("call", method=method, params=params)

    def close(self) -> None:
        """End the client's process, which stops the traffic first; may be called repeatedly."""
        with contextlib.suppress(OSError):
            self._requests.close()
        try:
            self._process.wait(END_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._replies.close()
        self._errors.close()

    def _ask(self, method: str, /, **arguments: Any) -> Any:
        """One request and its reply; replies to earlier, interrupted requests are ignored."""
        if self._requests.closed:
            raise StackcostError(f"{method}: the TRex client is closed")
        with self._lock:
            reply = self._exchange(method, arguments)
        if "error" in reply:
            raise StackcostError(f"{method}: {reply['error']}")
        return reply["result"]

    def _exchange(self, method: str, arguments: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        request = {"number": self._number, "method": method, "arguments": arguments}
        try:
            self._requests.write(json.dumps(request).encode() + b"\n")
            self._requests.flush()
        except BrokenPipeError:
            raise self._ended(method) from None
        deadline = time.monotonic() + patient(CALL_LIMIT)
        while (reply := json.loads(self._line(method, deadline)))["number"] != self._number:
            pass
        return dict(reply)

    def _line(self, method: str, deadline: float) -> bytes:
        output = self._replies.fileno()
        poll = select.poll()
        poll.register(output, select.POLLIN)
        while b"\n" not in self._received:
            if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
                try:
                    self.check()
                except StackcostError as error:  # the cause, which the kill below would hide
                    self._fault = error
                    raise
                finally:
                    self._process.kill()
                raise StackcostError(
                    f"{method}: the server at {self._address} did not finish in "
                    f"{patient(CALL_LIMIT):g} s",
                    on_a_slow_host(),
                )
            data = os.read(output, 1 << 16)
            if not data:
                raise self._ended(method)
            self._received += data
        line, _, self._received = self._received.partition(b"\n")
        return line

    def _ended(self, method: str) -> StackcostError:
        status = self._process.wait(END_PATIENCE)
        return StackcostError(
            f"{method}: the TRex client's process ended with exit status {status}; last output: "
            f"{last_lines(self._errors) or 'none'}"
        )
