"""A stack in a counting guest that takes the kernel's place, driven from here."""

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from typing_extensions import override

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.placement import Placement
from stackcost.contracts.wiring import LOAD_NAMESPACE
from stackcost.counting.guest import SHARE, CountingGuest
from stackcost.counting.inside import PORT, StackInside
from stackcost.counting.processes import begin, wait_for
from stackcost.files import SUITE
from stackcost.host.timeouts import scaled_timeout
from stackcost.remote.connection import Connection
from stackcost.remote.stub import Call, RemoteStub, how_of
from stackcost.remote.types import decode_result, encode_arguments

MODULE = "stackcost.counting.inside"


class GuestStack(RemoteStub, StackInside, of=StackInside):
    """The stack; each call is carried out in the guest. `stream`: to its program there."""

    def __init__(self, stream: socket.socket, name: str):
        ended = f"{name} in the counting guest: "
        self._connection = Connection(_Channel(stream), ended=ended)

    @override
    def handle(self, call: Call) -> Any:
        arguments = encode_arguments(call.method, call.arguments)
        answer = self._connection.ask(call.name, arguments)
        limit = scaled_timeout(how_of(call.method).limit_s)
        try:
            return decode_result(call.method, answer.result(limit))
        except TimeoutError:
            raise StackcostError(
                f"{call.name} did not end in the counting guest within {limit:g} s"
            ) from None


@contextmanager
def guest_stack(
    guest: CountingGuest, name: str, place: Placement, folder: Path
) -> Iterator[GuestStack]:
    """The stack of this name, ready for a program at a place of the guest. It ends with the guest.

    `folder`: of the session.
    """
    # What is mounted for its program later is seen by it, too.
    guest.line.run("mount --make-rshared /")
    command = [sys.executable, "-B", "-m", MODULE]
    log = f"{SHARE}/stack.log"
    process = begin(guest, LOAD_NAMESPACE, command, log, SUITE)
    where = LOAD_NAMESPACE, "127.0.0.1", PORT
    wait_for(guest, process, *where, f"the stack {name}", folder)
    with guest.line.connection(*where) as stream:
        stack = GuestStack(stream, name)
        stack.prepare(name, place)
        yield stack


class _Channel:
    """A connection to a program of the guest, as the channel of calls."""

    def __init__(self, stream: socket.socket):
        self._stream = stream
        self.requests: IO[bytes] = stream.makefile("wb")
        self.replies: IO[bytes] = stream.makefile("rb")

    def end(self) -> str:
        """The program ends only with its guest, or by a fault."""
        return "its program there has ended"

    def close(self) -> None:
        """End the requests."""
        with suppress(OSError):
            self._stream.shutdown(socket.SHUT_RDWR)
