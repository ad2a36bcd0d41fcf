"""The controller's end of an agent: requests that wait for their answers."""

import json
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import IO, Any, Protocol, Self

from stackcost.contracts.errors import StackcostError
from stackcost.host.patience import on_a_slow_host, patient
from stackcost.hosts.version import suite_version
from stackcost.hosts.wire import HEARTBEAT_S

CALL_LIMIT_S = 60.0
OPEN_LIMIT_S = 180.0  # a server that starts several times, and a bed


class Channel(Protocol):
    """The standard streams of an agent. `requests`: to it. `replies`: from it."""

    requests: IO[bytes]
    replies: IO[bytes]

    def end(self) -> str:
        """After the end of `replies`: why they ended, as far as that can be known."""

    def close(self) -> None:
        """Release everything; may be called more than once."""


class Line:
    """A line to the agent of a host; a context manager. Threads may share it.

    `host`: name for messages. `say`: shows what the agent is doing. StackcostError when the agent
    does not start, or is of another version.
    """

    def __init__(self, host: str, channel: Channel, say: Callable[[str], None]):
        self.host = host
        self._channel = channel
        self._say = say
        self._lock = threading.Lock()
        self._number = 0
        self._waiting: dict[int, Future[Any]] = {}
        self._version: Future[str] = Future()
        self._fault: StackcostError | None = None
        self._over = threading.Event()
        for target in (self._receive, self._beat):
            threading.Thread(target=target, name=f"line to {host}", daemon=True).start()
        try:
            self._check_version()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, method: str, /, **arguments: Any) -> "Future[Any]":
        """Send a request; its answer comes later."""
        answer: Future[Any] = Future()
        with self._lock:
            if self._fault:
                raise self._fault
            self._number += 1
            number, self._waiting[self._number] = self._number, answer
        request = {"number": number, "method": method, "arguments": arguments}
        self._write(json.dumps(request).encode() + b"\n")
        return answer

    def call(self, method: str, limit_s: float = CALL_LIMIT_S, /, **arguments: Any) -> Any:
        """The result of a request; StackcostError with the agent's words, or if it is silent."""
        return self.wait(self.ask(method, **arguments), method, limit_s)

    def wait(self, answer: "Future[Any]", method: str, limit_s: float = CALL_LIMIT_S) -> Any:
        """The result of a request that was sent by `ask`."""
        try:
            return answer.result(patient(limit_s))
        except TimeoutError:
            raise StackcostError(
                f"host {self.host}: {method} did not end in {patient(limit_s):g} s",
                on_a_slow_host(),
            ) from None

    def close(self) -> None:
        """End the agent's input: it undoes what is left, and ends."""
        self._over.set()
        self._channel.close()

    def _check_version(self) -> None:
        there, here = self.wait(self._version, "starting the agent"), suite_version()
        if there != here:
            raise StackcostError(
                f"host {self.host} has another version of stackcost: {there}; here is {here}",
                "install the same version on both hosts",
            )

    def _write(self, data: bytes) -> None:
        with suppress(OSError, ValueError), self._lock:  # the end of the replies tells the reason
            self._channel.requests.write(data)
            self._channel.requests.flush()

    def _beat(self) -> None:
        while not self._over.wait(HEARTBEAT_S):
            self._write(b"\n")

    def _receive(self) -> None:
        said = ""
        try:
            for line in self._channel.replies:
                try:
                    self._sort(json.loads(line))
                except (ValueError, LookupError, TypeError):  # a login script or a shell says it
                    said = line.decode(errors="replace").strip()
        except OSError as error:
            said = str(error)
        why = self._channel.end() or said or "it printed nothing"
        fault = StackcostError(f"host {self.host}: the line to its agent has ended: {why}")
        with self._lock:
            self._fault = fault
            waiting = [*self._waiting.values(), self._version]
        for answer in waiting:
            if not answer.done():
                answer.set_exception(fault)

    def _sort(self, message: dict[str, Any]) -> None:
        if "version" in message and not self._version.done():
            self._version.set_result(message["version"])
        elif "say" in message:
            self._say(message["say"])
        else:
            with self._lock:
                answer = self._waiting.pop(message["number"])
            if error := message.get("error"):
                what = f"host {self.host}: {error['what']}"
                answer.set_exception(StackcostError(what, error["hint"]))
            else:
                answer.set_result(message["result"])
