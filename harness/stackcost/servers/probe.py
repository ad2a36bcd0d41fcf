"""Sends requests to a server on the kernel's stack from inside its own namespace."""

import errno
import os
import socket
import ssl
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import h11
from pyroute2 import netns

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.wiring import LOAD_NAMESPACE
from stackcost.host.kernel_client import kernel_client
from stackcost.host.timeouts import scaled_timeout

TIMEOUT_S = 5.0
SAMPLED = 20  # requests of one sample: it meets what happens to every tenth


@dataclass(frozen=True, slots=True)
class Response:
    """One HTTP response. `length`: bytes of headers and body, which the client's TCP receives."""

    status: int
    length: int
    body: bytes


def ask(namespace: str, address: str, port: int, request: bytes, tls: bool = False) -> Response:
    """Send `request` and read the one response to it, to the end that HTTP gives it.

    `tls`: over TLS, whatever the server's certificate says; its bytes do not count as the
    response's. StackcostError with address and port if nothing answers, or the answer is not HTTP.
    """
    return next(ask_each(namespace, address, port, [request], tls))


def ask_as_load(name: str, address: str, port: int, request: bytes, tls: bool = False) -> Response:
    """Ask from the load's namespace, before a generator attaches; for a peer.

    `name`: of the server. StackcostError also if the status is not 200.
    """
    with kernel_client(address):
        response = ask(LOAD_NAMESPACE, address, port, request, tls)
    if response.status != 200:
        raise StackcostError(f"{name} answered {response.status}, not 200")
    return response


def ask_each(
    namespace: str, address: str, port: int, requests: Iterable[bytes], tls: bool = False
) -> Iterator[Response]:
    """Send requests one after the other on one connection; yields the responses."""
    try:
        with netns.create_socket(namespace, socket.AF_INET, socket.SOCK_STREAM) as plain:
            plain.settimeout(scaled_timeout(TIMEOUT_S))
            plain.connect((address, port))
            with _over_tls(plain) if tls else nullcontext(plain) as connection:
                client = _Client(connection)
                for request in requests:
                    yield client.ask(request)
    except (OSError, ValueError, h11.ProtocolError) as error:
        raise StackcostError(
            f"no HTTP answer from {address}:{port} in {namespace}: {error}"
        ) from error


def response_to(connection: socket.socket, request: bytes) -> Response:
    """Send a request on a connection that is there, and read its response."""
    connection.settimeout(scaled_timeout(TIMEOUT_S))
    try:
        return _Client(connection).ask(request)
    except (OSError, ValueError, h11.ProtocolError) as error:
        raise StackcostError(f"no HTTP answer: {error}") from error


def _over_tls(connection: socket.socket) -> AbstractContextManager[socket.socket]:
    """The connection after a handshake with a server whose certificate is signed by itself."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context.wrap_socket(connection)


def ask_socket(path: Path, request: bytes) -> bytes:
    """The whole response of a server on a UNIX socket, which changes no TCP counter.

    OSError when none answers.
    """
    directory = os.open(path.parent, os.O_PATH)
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(scaled_timeout(TIMEOUT_S))
            # Through the descriptor: the address of a UNIX socket is limited to 107 bytes.
            connection.connect(f"/proc/self/fd/{directory}/{path.name}")
            if request:  # a server that answers without one may have closed already
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
    lengths: dict[int, int] = {}  # of the whole response, by that of the body
    for _ in range(3):  # the third time the headers have the new body's number of digits
        lengths[body] = length = serve(body)
        if length == wanted:
            return
        body -= length - wanted
        if body < 0:
            break
    if len(lengths) > 1 and len(set(lengths.values())) == 1:
        raise StackcostError(
            f"the server answers {length} bytes, whatever the length of the body that it is given",
            "it must serve a body of self.body_bytes bytes, see docs/adding-a-server.md; or set "
            f"workload.response_bytes to {length}",
        )
    raise StackcostError(
        f"no response has a total length of {wanted} bytes",
        "choose a slightly larger workload.response_bytes",
    )


def ensure_port_free(namespace: str, address: str, port: int) -> None:
    """StackcostError if a program already listens there.

    Call it before a server starts: with SO_REUSEPORT the server's bind would succeed, and the other
    program would get a share of the connections.
    """
    with netns.create_socket(namespace, socket.AF_INET, socket.SOCK_STREAM) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # TIME_WAIT is no listener
        try:
            trial.bind((address, port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                return  # the server will say it in its own words
            raise StackcostError(
                f"{address}:{port} in {namespace} is already in use",
                f"end the program that listens there, see: ip netns exec {namespace} ss -ltnp",
            ) from error


def listens(namespace: str, address: str, port: int) -> bool:
    """Whether a program accepts connections there."""
    with netns.create_socket(namespace, socket.AF_INET, socket.SOCK_STREAM) as trial:
        trial.settimeout(scaled_timeout(TIMEOUT_S))
        return trial.connect_ex((address, port)) == 0


class _Client:
    """One client's end of HTTP/1.1 (h11), which reads what answers requests that are sent raw."""

    def __init__(self, connection: socket.socket):
        self._connection = connection
        self._http = h11.Connection(h11.CLIENT)

    def ask(self, request: bytes) -> Response:
        """Send the request, and read its response to the end and no further."""
        if self._http.their_state is h11.DONE:
            self._http.start_next_cycle()
        # For what h11 keeps of both sides; the server gets the caller's own bytes.
        self._http.send(h11.Request(method="GET", target="/", headers=[("Host", "server")]))
        self._http.send(h11.EndOfMessage())
        self._connection.sendall(request)
        received, status, body = 0, 0, bytearray()
        while True:
            event = self._http.next_event()
            if event is h11.NEED_DATA:
                part = self._connection.recv(1 << 16)
                if not part and not received:
                    raise ValueError("the connection was closed without a response")
                received += len(part)
                self._http.receive_data(part)
            elif isinstance(event, h11.Response):
                status = event.status_code
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage):
                break
        if beyond := len(self._http.trailing_data[0]):
            raise ValueError(f"{beyond} bytes came after the response")
        return Response(status, received, bytes(body))


def statuses(asked: Callable[[], Response]) -> dict[str, int]:
    """How many of some requests were answered by each status; "none": without an answer."""
    found: Counter[str] = Counter()
    for _ in range(SAMPLED):
        try:
            found[str(asked().status)] += 1
        except StackcostError:
            found["none"] += 1
            break  # each would wait as long
    return dict(found)


def healthy(response: Response, name: str, log: Path) -> Response:
    """The response; StackcostError if its status is neither 200 nor 204, which has
    no body.

    `name`, `log`: of the program that answered, for the message.
    """
    if response.status not in (200, 204):
        raise StackcostError(f"{name} answered {response.status}, not 200", f"see {log}")
    return response


def is_up(asked: Callable[[], Response]) -> bool:
    """Whether a program answers; False while nothing listens. Other errors of `asked` pass."""
    try:
        asked()
    except StackcostError as error:
        if isinstance(error.__cause__, ConnectionRefusedError):
            return False
        raise
    return True
