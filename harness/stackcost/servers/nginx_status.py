"""The installed nginx: how it was built, and its own counts, from its stub_status module."""

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stackcost.host.namespace import find_program
from stackcost.servers.probe import ask_socket

PROXYING_MODULES = ("proxy", "fastcgi", "uwsgi", "scgi")


@dataclass(frozen=True, slots=True)
class Build:
    """The nginx installed here: its path, version, and modules that are compiled in by default.

    `configured`: what `nginx -V` prints of its build.
    """

    path: str
    version: str
    proxying_modules: tuple[str, ...]
    configured: str = ""


def find_build() -> Build:
    """Ask the installed nginx what it is; StackcostError when there is none."""
    path = find_program("nginx")
    said = subprocess.run([path, "-V"], capture_output=True, text=True).stderr
    version = said.partition("\n")[0].removeprefix("nginx version: ")
    modules = (name for name in PROXYING_MODULES if f"--without-http_{name}_module" not in said)
    return Build(path, version, tuple(modules), said)


def affinity_masks(workers: int, cpus: Sequence[int]) -> list[str]:
    """One binary mask for each worker, cores in turn, as worker_cpu_affinity wants them."""
    return [f"{1 << cpus[worker % len(cpus)]:b}" for worker in range(workers)]


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
