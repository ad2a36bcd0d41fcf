"""Sends HTTP/3 requests (RFC 9114) for a number of seconds, and logs each; a program of its own.

Not verified: the server's certificate, which signs itself.
"""

import argparse
import asyncio
import itertools
import ssl
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from socket import AF_INET
from typing import Any
from urllib.parse import urlsplit

from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.h3.connection import H3Connection
from aioquic.h3.events import DataReceived, H3Event, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.events import ConnectionTerminated, QuicEvent

MICROSECONDS = 1e6
BROKEN = -1  # in place of a status: the connection ended before the response did


@dataclass(slots=True)
class Request:
    """One request, in microseconds from the start; -1: not yet. `status` 0: no response yet."""

    due: int
    sent: int = -1
    answered: int = -1
    status: int = 0
    received: int = 0


@dataclass(slots=True)
class Run:
    """All that was asked for, and the requests made. `began`: CLOCK_MONOTONIC seconds."""

    host: str
    port: int
    paths: Iterator[str]
    began: float
    seconds: float
    made: list[Request] = field(default_factory=list)

    def now(self) -> int:
        """Microseconds since the start."""
        return round((time.monotonic() - self.began) * MICROSECONDS)

    def add(self, due: int) -> Request:
        """A request that is due then, in the log."""
        self.made.append(Request(due))
        return self.made[-1]


class Connection(QuicConnectionProtocol):
    """One QUIC connection with HTTP/3."""

    def __init__(self, *arguments: Any, **options: Any):
        super().__init__(*arguments, **options)
        self._http = H3Connection(self._quic)
        self._waiting: dict[int, tuple[Request, asyncio.Future[None]]] = {}
        self._socket: asyncio.BaseTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by asyncio with the connection's socket."""
        self._socket = transport
        super().connection_made(transport)  # type: ignore[arg-type]

    def end(self) -> None:
        """Close the connection without waiting until it has drained (RFC 9000, section 10.2)."""
        self.close()
        if self._socket:
            self._socket.close()

    def quic_event_received(self, event: QuicEvent) -> None:
        """Called by aioquic."""
        if isinstance(event, ConnectionTerminated):
            for request, answered in self._waiting.values():
                request.status = BROKEN
                if not answered.done():
                    answered.set_result(None)
        for each in self._http.handle_event(event):
            self._read(each)

    async def ask(self, run: Run, request: Request) -> None:
        """Send one request, and wait for its whole response."""
        stream = self._quic.get_next_available_stream_id()
        answered = asyncio.get_running_loop().create_future()
        self._waiting[stream] = request, answered
        authority = f"{run.host}:{run.port}".encode()
        self._http.send_headers(
            stream,
            [
                (b":method", b"GET"),
                (b":scheme", b"https"),
                (b":authority", authority),
                (b":path", next(run.paths).encode()),
            ],
            end_stream=True,
        )
        if request.sent < 0:
            request.sent = run.now()
        self.transmit()
        await answered
        if request.status != BROKEN:
            request.answered = run.now()
        del self._waiting[stream]

    def _read(self, event: H3Event) -> None:
        if not isinstance(event, HeadersReceived | DataReceived):
            return
        request, answered = self._waiting[event.stream_id]
        if isinstance(event, HeadersReceived):
            request.status = int(dict(event.headers)[b":status"])
        else:
            request.received += len(event.data)
        if event.stream_ended and not answered.done():
            answered.set_result(None)


async def opened(run: Run) -> Connection:
    """A connection whose handshake is complete; ConnectionError if it failed."""
    settings = QuicConfiguration(is_client=True, alpn_protocols=["h3"], verify_mode=ssl.CERT_NONE)
    quic = QuicConnection(configuration=settings)
    _, connection = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: Connection(quic), family=AF_INET, local_addr=("0.0.0.0", 0)
    )
    connection.connect((run.host, run.port))
    await connection.wait_connected()
    return connection


async def on_new(run: Run, request: Request) -> None:
    """One request on a connection of its own, which is then closed."""
    request.sent = run.now()
    connection = None
    try:
        connection = await opened(run)
        await connection.ask(run, request)
    except (ConnectionError, OSError):
        request.status = BROKEN
    finally:
        if connection:
            connection.end()


async def closed_loop(run: Run, connection: Connection | None) -> None:
    """One request after the other: on a connection, or on a new one each."""
    while True:
        request = run.add(run.now())
        await (connection.ask(run, request) if connection else on_new(run, request))


async def at_rate(run: Run, rate: float, connections: Sequence[Connection]) -> None:
    """Each request at its time, on one of the kept connections in turn or on a new one."""
    tasks = set()
    turns = itertools.cycle(connections) if connections else None
    for number in range(round(rate * run.seconds)):
        request = run.add(round(number / rate * MICROSECONDS))
        if (early := (request.due - run.now()) / MICROSECONDS) > 0:
            await asyncio.sleep(early)
        asking = next(turns).ask(run, request) if turns else on_new(run, request)
        tasks.add(task := asyncio.ensure_future(asking))
        task.add_done_callback(tasks.discard)
    for task in tasks:
        task.cancel()


async def main() -> None:
    """Parse the command line, send, and write the log."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--connections", type=int, required=True)
    parser.add_argument("--streams", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--rate", type=float)
    parser.add_argument("--kept", action="store_true")
    parser.add_argument("--log", type=Path, required=True)
    asked = parser.parse_args()
    server = urlsplit(asked.url)
    run = Run(
        host=server.hostname or "",
        port=server.port or 443,
        paths=itertools.cycle(asked.paths),
        began=time.monotonic(),
        seconds=asked.seconds,
    )
    kept = [await opened(run) for _ in range(asked.connections if asked.kept else 0)]
    run.began = time.monotonic()
    try:
        async with asyncio.timeout(asked.seconds):
            if asked.rate is not None:
                await at_rate(run, asked.rate, kept)
            else:
                loops = kept * asked.streams or [None] * asked.connections
                await asyncio.gather(*(closed_loop(run, each) for each in loops))
    except TimeoutError:
        pass
    rows = (
        f"{each.due}\t{each.sent}\t{each.answered}\t{each.status}\t{each.received}\n"
        for each in run.made
    )
    asked.log.write_text("".join(rows))


if __name__ == "__main__":
    asyncio.run(main())
