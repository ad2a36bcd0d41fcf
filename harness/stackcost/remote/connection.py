"""The end of a connection that calls: requests that wait for their answers."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import IO, Any, Protocol

from stackcost.contracts.errors import StackcostError
from stackcost.remote.lines import lines_of, pack, refused, unpack, unpack_error


class Channel(Protocol):
    """The streams to the other end. `requests`: to it. `replies`: from it."""

    requests: IO[bytes]
    replies: IO[bytes]

    def end(self) -> str:
        """After the end of `replies`: why they ended, as far as that can be known."""

    def close(self) -> None:
        """End the requests, and release everything; may be called more than once."""


class Connection:
    """Calls over a channel. Threads may share it.

    `say`: shows what the other end is doing. `heartbeat_s`: between two empty lines, by which the
    other end sees that this one lives. `ended`: the words for an end, before its reason.
    `version`: of the other end, once it is known.
    """

    def __init__(
        self,
        channel: Channel,
        say: Callable[[str], None] = lambda _: None,
        heartbeat_s: float | None = None,
        ended: str = "",
    ):
        self._channel = channel
        self._say = say
        self._ended = ended
        self._lock = threading.Lock()
        self._number = 0
        self._waiting: dict[int, Future[Any]] = {}
        self._fault: StackcostError | None = None
        self._over = threading.Event()
        self.version: Future[str] = Future()
        threading.Thread(target=self._receive, name="replies", daemon=True).start()
        if heartbeat_s is not None:
            beat = threading.Thread(target=self._beat, args=(heartbeat_s,), daemon=True)
            beat.start()

    def ask(self, method: str, arguments: dict[str, Any]) -> "Future[Any]":
        """Send a request; its answer comes later. StackcostError if the connection has ended."""
        answer: Future[Any] = Future()
        with self._lock:
            if self._fault:
                raise self._fault
            self._number += 1
            number, self._waiting[self._number] = self._number, answer
        self._write(pack({"number": number, "method": method, "arguments": arguments}))
        return answer

    def close(self) -> None:
        """End the requests: the other end ends too."""
        self._over.set()
        self._channel.close()

    def _write(self, data: bytes) -> None:
        with suppress(OSError, ValueError), self._lock:  # the end of the replies tells the reason
            self._channel.requests.write(data)
            self._channel.requests.flush()

    def _beat(self, seconds: float) -> None:
        while not self._over.wait(seconds):
            self._write(b"\n")

    def _receive(self) -> None:
        said = ""
        try:
            for line in lines_of(self._channel.replies):
                if self.version.done():
                    self._sort(line)
                else:
                    said = self._greet(line) or said
        except StackcostError as error:
            self._fail(error)
            self._channel.close()
        except (OSError, ValueError) as error:  # the channel was closed meanwhile
            said = str(error)
        why = self._channel.end() or said or "it printed nothing"
        self._fail(StackcostError(self._ended + why))

    def _greet(self, line: bytes) -> str:
        """Before the version a login script or a shell may print something, which is returned."""
        try:
            self.version.set_result(str(unpack(line)["version"]))
        except (StackcostError, LookupError):
            return line.decode(errors="replace").strip()
        return ""

    def _sort(self, line: bytes) -> None:
        message = unpack(line)
        if "say" in message:
            self._say(str(message["say"]))
            return
        number, failed = message.get("number"), "error" in message
        with self._lock:
            known = isinstance(number, int) and number in self._waiting
            if not known or failed == ("result" in message):
                raise unpack_error(message["error"]) if failed else refused(line)
            answer: Future[Any] = self._waiting.pop(number)  # type: ignore[arg-type]
        if failed:
            answer.set_exception(unpack_error(message["error"]))
        else:
            answer.set_result(message["result"])

    def _fail(self, fault: StackcostError) -> None:
        """Fail what waits, and all that will be asked."""
        with self._lock:
            self._fault = self._fault or fault
            waiting = [*self._waiting.values(), self.version]
            self._waiting.clear()
        for answer in waiting:
            if not answer.done():
                answer.set_exception(self._fault)
