"""Looking at a server on the kernel's stack from inside its own namespace."""

import errno
import os
import socket
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pyroute2 import netns

from stackcost.contracts.errors import StackcostError
from stackcost.host.patience import patient

TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class Response:
    """One HTTP response as it came: `head` up to and with the empty line, and `body`."""

    head: bytes
    body: bytes

    @property
    def length(self) -> int:
        """Bytes of headers and body: what the client's TCP receives."""
        return len(self.head) + len(self.body)

    @property
    def status(self) -> int:
        """The status code of the first line."""
        return int(self.head.split(maxsplit=2)[1])


def ask(namespace: str, address: str, port: int, request: bytes) -> Response:
    """Send `request` and read the one response that its Content-Length bounds.

    StackcostError, naming address and port, when nothing or something else than HTTP answers.
    """
    return next(ask_each(namespace, address, port, [request]))


def ask_each(
    namespace: str, address: str, port: int, requests: Iterable[bytes]
) -> Iterator[Response]:
    """The same for one request after the other on one connection; responses as they come."""
    try:
        with netns.create_socket(namespace, socket.AF_INET, socket.SOCK_STREAM) as connection:
            connection.settimeout(patient(TIMEOUT_S))
            connection.connect((address, port))
            for request in requests:
                connection.sendall(request)
                yield _read(connection)
    except (OSError, ValueError) as error:
        raise StackcostError(
            f"no HTTP answer from {address}:{port} in {namespace}: {error}"
        ) from error


def ask_socket(path: Path, request: bytes) -> bytes:
    """All that a server says on a UNIX socket of its own, where no TCP counter moves.

    OSError when none answers.
    """
    directory = os.open(path.parent, os.O_PATH)
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(patient(TIMEOUT_S))
            # Through the descriptor: the address of a UNIX socket is limited to 107 bytes.
            connection.connect(f"/proc/self/fd/{directory}/{path.name}")
            connection.sendall(request)
            answer = b""
            while part := connection.recv(1 << 16):
                answer += part
    finally:
        os.close(directory)
    return answer


def fit_body(wanted: int, serve: Callable[[int], int]) -> None:
    """Find the body with which a whole response has `wanted` bytes, and leave it served.

    `serve`: starts or restarts with a body of so many bytes, and returns the whole response's
    length. StackcostError when no body does: below the length of the headers alone, or where one
    more byte of body is one more digit of Content-Length.
    """
    body = wanted
    for _ in range(3):  # the third time the headers have the new body's number of digits
        length = serve(body)
        if length == wanted:
            return
        body -= length - wanted
        if body < 0:
            break
    raise StackcostError(
        f"no response has {wanted} bytes in all", "choose a few more response_bytes"
    )


def ensure_port_free(namespace: str, address: str, port: int) -> None:
    """StackcostError when a program listens there already.

    Asked before a server starts: with SO_REUSEPORT its own bind would succeed, and the other
    program would take a share of the connections.
    """
    with netns.create_socket(namespace, socket.AF_INET, socket.SOCK_STREAM) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # TIME_WAIT is no listener
        try:
            trial.bind((address, port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                return  # the server will say it in its own words
            raise StackcostError(
                f"{address}:{port} in {namespace} is in use",
                f"end what listens there: ip netns exec {namespace} ss -ltnp",
            ) from error


def _read(connection: socket.socket) -> Response:
    data = b""
    while b"\r\n\r\n" not in data:
        data += _receive(connection)
    head, _, body = data.partition(b"\r\n\r\n")
    fields = dict(line.lower().split(b":", 1) for line in head.split(b"\r\n")[1:])
    if b"content-length" not in fields:
        raise ValueError("the response has no Content-Length")
    length = int(fields[b"content-length"])
    while len(body) < length:
        body += _receive(connection)
    if len(body) > length:
        raise ValueError(f"{len(body) - length} bytes came after the response")
    return Response(head + b"\r\n\r\n", body)


def _receive(connection: socket.socket) -> bytes:
    part = connection.recv(1 << 16)
    if not part:
        raise ValueError("the connection was closed in mid-response")
    return part
