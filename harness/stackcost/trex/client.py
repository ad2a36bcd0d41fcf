"""TRex's ASTF API for the harness: the real client, in a separate process.

The process (stackcost.trex.client_process) runs where the server's RPC ports are reachable. Every
call has a time limit; a server that fails, hangs or dies ends as a StackcostError.
"""

import contextlib
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, Self

from stackcost.contracts.errors import StackcostError
from stackcost.host.liveness import check_lives
from stackcost.host.timeouts import on_a_slow_host, scaled_timeout
from stackcost.host.waiting import wait_until
from stackcost.remote.connection import Connection
from stackcost.remote.stub import Call, RemoteStub
from stackcost.trex.astf_client import AstfClient
from stackcost.trex.process import Spawn, last_lines, spawn_here

CALL_LIMIT = 30.0  # seconds; the client itself gives up on a silent server before
ANSWER_LIMIT = 3.0  # seconds; the client's own default. Once connected it waits four times
END_TIMEOUT = 5.0  # seconds for stopping the traffic when closing
POLL = 0.1  # seconds between looks at whether traffic goes on
Blamed = Callable[[], contextlib.AbstractContextManager[None]]


class TrexClient(RemoteStub, AstfClient, of=AstfClient):
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
        self._lock = threading.Lock()  # one call at a time, so that none waits for another's limit
        self._fault: StackcostError | None = None
        self._blamed: Blamed = contextlib.nullcontext
        self._was_asked = False
        arguments = [server, str(rpc_port), str(async_port), str(scaled_timeout(ANSWER_LIMIT))]
        self._channel = _Channel(spawn, arguments)
        self._connection = Connection(self._channel)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def process_id(self) -> int:
        """Process id of the client's process."""
        return self._channel.process.pid

    def check(self) -> None:
        """StackcostError if the client's process has ended, or is or was stopped."""
        if self._fault:
            raise self._fault
        check_lives(self.process_id, "the TRex client has failed: its program")

    def blame(self, blamed: Blamed) -> None:
        """Make each call inside `blamed`, as `AstfServer.blamed`, which knows why none answers."""
        self._blamed = blamed

    def wait_on_traffic(self, timeout: float) -> None:
        """Return when the traffic and all its flows have ended.

        StackcostError if that takes more than `timeout` seconds; the traffic then continues.
        """
        if not wait_until(lambda: not self.is_traffic_active(), timeout, POLL):
            raise StackcostError(f"the traffic did not end within {timeout:g} s")

    def close(self) -> None:
        """End the client's process, which stops the traffic first; may be called repeatedly."""
        if not self._was_asked:  # there is nothing to stop, and it may still be starting
            self._channel.process.kill()
        self._connection.close()

    def handle(self, call: Call) -> Any:
        """One request and its answer; those to earlier, interrupted requests are ignored."""
        with self._blamed():
            return self._ask(call)

    def _ask(self, call: Call) -> Any:
        name = call.method.__name__
        if self._channel.requests.closed:
            raise StackcostError(f"{name}: the TRex client is closed")
        arguments = {
            key: str(value.resolve()) if isinstance(value, Path) else value
            for key, value in call.arguments.items()
        }
        self._was_asked = True
        limit_s = scaled_timeout(CALL_LIMIT)
        try:
            with self._lock:
                return self._connection.ask(call.name, arguments).result(limit_s)
        except StackcostError as error:
            raise StackcostError(f"{name}: {error.what}", error.hint) from error
        except TimeoutError:
            try:
                self.check()
            except StackcostError as error:  # the cause, which the kill below would hide
                self._fault = error
                raise
            finally:
                self._channel.process.kill()
            raise StackcostError(
                f"{name}: the server at {self._address} did not finish in {limit_s:g} s",
                on_a_slow_host(),
            ) from None


class _Channel:
    """The process of the client, and its standard streams."""

    def __init__(self, spawn: Spawn, arguments: list[str]):
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115, closed by end
        self.process = spawn(
            [sys.executable, "-P", "-m", "stackcost.trex.client_process", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,  # Ctrl-C is for the harness, which then closes this
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        self.requests: IO[bytes] = self.process.stdin
        self.replies: IO[bytes] = self.process.stdout

    def end(self) -> str:
        """How the process ended, and what it printed last."""
        status = self._wait()
        said = last_lines(self._errors) or "none"
        self._errors.close()
        self.replies.close()
        return f"the TRex client's process ended with exit status {status}; last output: {said}"

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.requests.close()
        self._wait()

    def _wait(self) -> int:
        """The exit status of the process, which has to end by itself."""
        try:
            return self.process.wait(END_TIMEOUT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()
