"""nginx's own counts of connections and requests, from its stub_status module."""

import re
from dataclasses import dataclass
from pathlib import Path

from stackcost.servers.probe import ask_socket

STATUS_SOCKET = "status.sock"


@dataclass(frozen=True, slots=True)
class Status:
    """Counts since nginx started, over all workers; asking adds one to each of the three.

    `accepted`: connections accepted. `handled`: of these, not dropped because of a lack of worker
    connections. `requests`: requests read. `active`: connections open now, this query included.
    """

    accepted: int
    handled: int
    requests: int
    active: int


def read_status(folder: Path) -> Status:
    """Query the nginx that runs in `folder`; OSError if it does not answer."""
    answer = ask_socket(folder / STATUS_SOCKET, b"GET / HTTP/1.0\r\n\r\n")
    return parse_status(answer.decode())


def answers(folder: Path) -> bool:
    """Whether the nginx that runs in `folder` answers with its status."""
    try:
        read_status(folder)
    except (OSError, ValueError):
        return False
    return True


def parse_status(text: str) -> Status:
    """Parse the module's text (ngx_http_stub_status_module); ValueError if it is something else."""
    counts = re.search(r"\n *(\d+) (\d+) (\d+) *\n", text)
    active = re.search(r"Active connections: (\d+)", text)
    if counts is None or active is None:
        raise ValueError(f"this is not a status page of nginx: {text[:200]!r}")
    accepted, handled, requests = (int(count) for count in counts.groups())
    return Status(accepted, handled, requests, int(active[1]))
