"""What the harness asks of a system under test."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a server is reached and where it may run.

    `namespace`: name of the network namespace it runs in. `interface`: its veth end there.
    `address`, `port`: what clients connect to. `cpus`: cores it may use.
    `folder`: a folder for its configuration, logs and pid file, inside the run folder.
    """

    namespace: str
    interface: str
    address: str
    port: int
    cpus: tuple[int, ...]
    folder: Path


class Server(Protocol):
    """One system under test, not yet started when made.

    A server that cannot run on this machine raises StackcostError from `start`, naming the
    missing part and how that was established.
    """

    name: str  # "nginx/kernel", "astf-peer"

    def start(self) -> None:
        """Start it and return once `check_health` passes; on failure leave nothing behind."""

    def check_health(self) -> None:
        """Raise StackcostError unless it serves correctly now."""

    def response_length(self) -> int:
        """Bytes (headers and body) of one response, as probed from the running server."""

    def processes(self) -> dict[str, int]:
        """Process ids by role, such as {"master": 811, "worker-0": 812}."""

    def requests_served(self) -> int | None:
        """Requests served since start by its own account; None when it keeps or tells none now."""

    def refusals(self) -> dict[str, int] | None:
        """Connections it turned away since start, by what it lacked; empty when it counts none.

        None when the server does not answer: an overwhelmed one may not.
        """

    def describe(self) -> dict[str, Any]:
        """Version, configuration text, tuning tier, worker count, cores: for the manifest."""

    def stop(self) -> None:
        """End it and remove what it made; may be called at any time, more than once."""
