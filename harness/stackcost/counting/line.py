"""The line to the agent of a counting guest: scripts, marks, and connections into it."""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue

from stackcost.contracts.errors import StackcostError

HEAD = struct.Struct("<BBHI")  # type, channel, zero, length of the body
CLEAR, WRITE = b"\1", b"\2"  # marks
CHUNK = 1 << 16
CALL_LIMIT_S = 600.0


class Line:
    """Calls of one agent over a stream. Threads may share it; a call waits for its answer.

    `ended`: what to say when the stream ends: why the guest has ended.
    """

    def __init__(self, stream: socket.socket):
        self._stream = stream
        self._sending = threading.Lock()
        self._calling = threading.Lock()
        self._answers: SimpleQueue[tuple[int, bytes] | None] = SimpleQueue()
        self._sockets: dict[int, socket.socket] = {}
        self._last = 0
        self._ended = False
        threading.Thread(target=self._receive, name="counting guest", daemon=True).start()

    def wait_until_ready(self, limit_s: float) -> None:
        """The agent says so once, when the guest has booted."""
        self._answer(limit_s)

    def run(self, script: str, limit_s: float = CALL_LIMIT_S) -> str:
        """What a shell script printed in the guest; StackcostError when it fails."""
        status, printed = self._call(b"x", 0, script.encode(), limit_s)
        text = printed.decode(errors="replace")
        if status:
            raise StackcostError(f"in the counting guest, status {status}: {text.strip()[-2000:]}")
        return text

    def mark(self, what: bytes) -> None:
        """Begin a window (`CLEAR`), or end it and have its counts written (`WRITE`)."""
        self._call(b"m", 0, what)

    @contextmanager
    def connection(self, namespace: str, address: str, port: int) -> Iterator[socket.socket]:
        """A connection to a program in a namespace of the guest."""
        near, far = socket.socketpair()
        self.join(far, namespace, address, port)
        with near:
            yield near

    def join(self, client: socket.socket, namespace: str, address: str, port: int) -> None:
        """Pass on what comes from a socket to a program in the guest, and back, until one ends.

        StackcostError when nothing listens there.
        """
        with self._sending:
            self._last = self._last % 255 + 1
            channel = self._last
            self._sockets[channel] = client
        status, words = self._call(b"o", channel, f"{namespace} {address} {port}".encode())
        if status:
            del self._sockets[channel]
            client.close()
            raise StackcostError(f"{address}:{port} in the counting guest: {words.decode()}")
        threading.Thread(target=self._pass_on, args=(channel, client), daemon=True).start()

    def close(self) -> None:
        """End it; the guest stays."""
        with suppress(OSError):
            self._stream.shutdown(socket.SHUT_RDWR)
        self._stream.close()

    def _call(
        self, kind: bytes, channel: int, body: bytes, limit_s: float = CALL_LIMIT_S
    ) -> tuple[int, bytes]:
        with self._calling:
            self._send(kind, channel, body)
            return self._answer(limit_s)

    def _answer(self, limit_s: float) -> tuple[int, bytes]:
        try:
            answer = self._answers.get(timeout=limit_s)
        except Empty:
            raise StackcostError(
                f"the counting guest did not answer within {limit_s:g} s",
                "it may wait for something outside of it, or the machine is very busy",
            ) from None
        if answer is None:
            self._answers.put(None)
            raise StackcostError("the counting guest has ended")
        return answer

    def _send(self, kind: bytes, channel: int, body: bytes) -> None:
        with self._sending, suppress(OSError):
            self._stream.sendall(HEAD.pack(kind[0], channel, 0, len(body)) + body)

    def _receive(self) -> None:
        with suppress(OSError), self._stream.makefile("rb") as stream:
            while head := stream.read(HEAD.size):
                kind, channel, _, length = HEAD.unpack(head)
                self._take(bytes([kind]), channel, stream.read(length))
        self._answers.put(None)

    def _take(self, kind: bytes, channel: int, body: bytes) -> None:
        if kind == b"r":
            (status,) = struct.unpack("<i", body[:4])
            self._answers.put((status, body[4:]))
        elif client := self._sockets.get(channel):
            with suppress(OSError):
                if kind == b"d":
                    client.sendall(body)
                else:
                    client.shutdown(socket.SHUT_RDWR)

    def _pass_on(self, channel: int, client: socket.socket) -> None:
        with suppress(OSError), client:
            while data := client.recv(CHUNK):
                self._send(b"d", channel, data)
        self._send(b"c", channel, b"")
        self._sockets.pop(channel, None)


@contextmanager
def forwarded(line: Line, namespace: str, port: int) -> Iterator[int]:
    """Inside, a port of 127.0.0.1 here, whose number is given, is one of the guest's."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            with suppress(OSError):
                while True:
                    client, _ = server.accept()
                    with suppress(StackcostError):
                        line.join(client, namespace, "127.0.0.1", port)

        threading.Thread(target=accept, daemon=True).start()
        yield int(server.getsockname()[1])
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
