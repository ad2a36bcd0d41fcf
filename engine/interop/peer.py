"""The kernel's end of the flows: takes a payload, compares every byte, sends one back.

Runs in the host's namespace, as client or as server. A line of JSON on standard output for each
flow that ended; see `Ending`.
"""

import argparse
import json
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

from payload import payload

TIMEOUT_S = 60.0
PIECE = 1 << 16
CONGESTION_CONTROL = b"cubic"  # the same on every machine, whatever its default
TCP_INFO_LENGTH = 104
TOTAL_RETRANSMITS_AT = 100  # of struct tcp_info, include/uapi/linux/tcp.h


@dataclass
class Ending:
    """How one flow ended, as its kernel end saw it."""

    received: int = 0  # bytes
    whole: bool = False  # every byte as it should be, then the other side's FIN
    error: str | None = None
    options: int = 0  # TCPI_OPT_* bits agreed on
    retransmitted: int = 0  # segments the kernel sent again
    seconds: float = 0.0


def note(connection: socket.socket, ending: Ending) -> None:
    """What the kernel says of the connection, while it still is one."""
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO_LENGTH)
    ending.options = info[5]
    (ending.retransmitted,) = struct.unpack_from("=I", info, TOTAL_RETRANSMITS_AT)


def take(connection: socket.socket, wanted: bytes, ending: Ending) -> bool:
    """Receive as many bytes as wanted; whether they are the wanted ones."""
    view = memoryview(wanted)
    same = True
    while ending.received < len(wanted):
        piece = connection.recv(min(PIECE, len(wanted) - ending.received))
        if not piece:
            return False
        same = same and view[ending.received : ending.received + len(piece)] == piece
        ending.received += len(piece)
    return same


def exchange(connection: socket.socket, data: bytes, client: bool) -> Ending:
    """One flow from its handshake to the other side's FIN."""
    ending = Ending()
    since = time.monotonic()
    try:
        connection.settimeout(TIMEOUT_S)
        if client:
            connection.sendall(data)
        same = take(connection, data, ending)
        if not client:
            connection.sendall(data)
        note(connection, ending)
        ending.whole = connection.recv(1) == b"" and same
        note(connection, ending)
    except OSError as error:
        ending.error = str(error)
    finally:
        connection.close()
    ending.seconds = time.monotonic() - since
    return ending


def report(ending: Ending) -> None:
    """Print it as one line."""
    sys.stdout.write(json.dumps(asdict(ending)) + "\n")
    sys.stdout.flush()


def family_of(address: str) -> socket.AddressFamily:
    """By the address's notation."""
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def dial(address: str, port: int, data: bytes) -> Ending:
    """One flow as its client."""
    connection = socket.socket(family_of(address))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, CONGESTION_CONTROL)
    connection.settimeout(TIMEOUT_S)
    try:
        connection.connect((address, port))
    except OSError as error:
        return Ending(error=f"connect: {error}")
    return exchange(connection, data, client=True)


def listen(address: str, port: int, data: bytes) -> Callable[[], Ending]:
    """A function that waits for a connection and serves it."""
    listener = socket.create_server((address, port), family=family_of(address), backlog=256)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, CONGESTION_CONTROL)

    def serve() -> Ending:
        connection, _ = listener.accept()
        return exchange(connection, data, client=False)

    return serve


def main() -> None:
    """All flows at once."""
    parser = argparse.ArgumentParser()
    parser.add_argument("role", choices=("client", "server"))
    parser.add_argument("address")
    parser.add_argument("port", type=int)
    parser.add_argument("size", type=int)
    parser.add_argument("flows", type=int)
    wanted = parser.parse_args()
    data = payload(wanted.size)
    if wanted.role == "client":

        def flow() -> None:
            report(dial(wanted.address, wanted.port, data))
    else:
        serve = listen(wanted.address, wanted.port, data)
        sys.stdout.write("listening\n")
        sys.stdout.flush()

        def flow() -> None:
            report(serve())

    threads = [threading.Thread(target=flow, daemon=True) for _ in range(wanted.flows)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


main()
