"""What answers a question is read by the rules of HTTP: a scripted server on the loopback."""

import os
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyroute2 import netns

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.http import P256
from stackcost.servers.certificate import CERTIFICATE_FILE, KEY_FILE, make_certificate
from stackcost.servers.probe import ask, ask_each, ask_socket

PLAIN = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
CHUNKED = b"HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
CONTINUED = b"HTTP/1.1 100 Continue\r\n\r\n" + PLAIN
UNBOUNDED = b"HTTP/1.0 200 OK\r\n\r\nhello"


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test's own network namespace, in place of a bed's."""

    def create(namespace: str, family: int, kind: int) -> socket.socket:
        return socket.socket(family, kind)

    monkeypatch.setattr(netns, "create_socket", create)


@contextmanager
def server(
    *answers: bytes, step: int = 1 << 16, tls: ssl.SSLContext | None = None
) -> Iterator[int]:
    """Says one answer to each request, `step` bytes at a time, and closes after the last."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            plain = listener.accept()[0]
            with tls.wrap_socket(plain, server_side=True) if tls else plain as connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for answer in answers:
                    connection.recv(1 << 16)
                    for at in range(0, len(answer), step):
                        connection.sendall(answer[at : at + step])

        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1]
        thread.join()


@pytest.mark.parametrize("step", [1, 7, 1 << 16])
@pytest.mark.parametrize(
    ("answer", "status"), [(PLAIN, 200), (CHUNKED, 404), (CONTINUED, 200), (UNBOUNDED, 200)]
)
def test_every_way_to_bound_a_response_is_read(answer: bytes, status: int, step: int) -> None:
    with server(answer, step=step) as port:
        found = ask("none", "127.0.0.1", port, b"GET / HTTP/1.1\r\n\r\n")
    assert (found.status, found.length, found.body) == (status, len(answer), b"hello")


@pytest.mark.parametrize("answer", [PLAIN, UNBOUNDED])
def test_over_tls_the_response_is_what_was_decrypted(answer: bytes, tmp_path: Path) -> None:
    make_certificate(tmp_path, "48.0.0.1", P256)  # of another name, and signed by itself
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / CERTIFICATE_FILE, tmp_path / KEY_FILE)
    with server(answer, tls=context) as port:
        found = ask("none", "127.0.0.1", port, b"GET / HTTP/1.1\r\n\r\n", tls=True)
    assert (found.status, found.length, found.body) == (200, len(answer), b"hello")


def test_one_connection_has_one_response_after_the_other() -> None:
    with server(PLAIN, CHUNKED, PLAIN) as port:
        found = list(ask_each("none", "127.0.0.1", port, [b"GET / HTTP/1.1\r\n\r\n"] * 3))
    assert [each.status for each in found] == [200, 404, 200]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"220 a mail server\r\n\r\n", "illegal status line"),
        (PLAIN[:-2], "peer closed connection"),
        (PLAIN + b"more", "4 bytes came after the response"),
        (b"", "closed without a response"),
    ],
)
def test_what_is_no_whole_response_is_reported(answer: bytes, said: str) -> None:
    with server(answer) as port, pytest.raises(StackcostError, match=said) as told:
        ask("none", "127.0.0.1", port, b"GET / HTTP/1.1\r\n\r\n")
    assert f"no HTTP answer from 127.0.0.1:{port}" in told.value.what


def test_a_closed_port_is_distinguished() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(StackcostError) as told:
        ask("none", "127.0.0.1", port, os.urandom(4))
    assert isinstance(told.value.__cause__, ConnectionRefusedError)


def test_a_server_that_answers_without_a_request_may_close_at_once(tmp_path: Path) -> None:
    path, times = tmp_path / "counter", 300

    def answer(listener: socket.socket) -> None:
        for _ in range(times):
            asker = listener.accept()[0]
            asker.sendall(b"7")
            asker.close()

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        thread = threading.Thread(target=answer, args=(listener,))
        thread.start()
        assert {ask_socket(path, b"") for _ in range(times)} == {b"7"}
        thread.join()
