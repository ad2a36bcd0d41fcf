"""nginx's own account of its connections and requests, from its stub_status module."""

import os
import re
import socket
from dataclasses import dataclass
from pathlib import Path

STATUS_SOCKET = "status.sock"
TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class Status:
    """Counts since nginx started, over all workers; asking adds one to each of the three.

    `accepted`: connections accepted. `handled`: of these, not dropped for want of worker
    connections. `requests`: requests read. `active`: connections open now, the asking one included.
    """

    accepted: int
    handled: int
    requests: int
    active: int


def read_status(folder: Path) -> Status:
    """Ask the nginx that runs in `folder`; OSError when none answers."""
    directory = os.open(folder, os.O_PATH)
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(TIMEOUT_S)
            # Through the descriptor: the address of a UNIX socket is limited to 107 bytes.
            connection.connect(f"/proc/self/fd/{directory}/{STATUS_SOCKET}")
            connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
            answer = b""
            while part := connection.recv(4096):
                answer += part
    finally:
        os.close(directory)
    return parse_status(answer.decode())


def parse_status(text: str) -> Status:
    """Read the module's text; ValueError when it is none (ngx_http_stub_status_module)."""
    counts = re.search(r"\n *(\d+) (\d+) (\d+) *\n", text)
    active = re.search(r"Active connections: (\d+)", text)
    if counts is None or active is None:
        raise ValueError(f"no status of nginx: {text[:200]!r}")
    accepted, handled, requests = (int(count) for count in counts.groups())
    return Status(accepted, handled, requests, int(active[1]))
