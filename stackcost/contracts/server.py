"""What the harness asks of a system under test."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

from stackcost.contracts.addresses import IpVersion
from stackcost.contracts.collector import Collector
from stackcost.contracts.dut_settings import DutSettings
from stackcost.contracts.endpoint import Endpoint
from stackcost.contracts.tuning import Tier
from stackcost.contracts.wiring import TO_SERVER, Wiring


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """How an experiment wants a server to be set up.

    `response_bytes`: length of every response, headers and body. `request`: the exact bytes that
    the load will send, because the headers of a response may depend on them; empty for a server
    that sends and receives frames itself. `open_flows`: the highest number of connections that are
    held open at once. `workers`: serving processes or threads; None: one per core.
    `worker_connections`: the number of connections that each worker must be able to hold. `tier`:
    the tuning tier; the harness sets its sysctls and the receive steering. `profile`, `tunables`:
    the ASTF profile of the load, for a server that runs a profile itself. `backlog`: length of the
    accept queue; None: the server's default. The kernel limits it to net.core.somaxconn. `files`:
    for HTTP clients, the length of the body by path. All files are in memory, and `request` asks
    for the shortest one. Empty: the server sends the same response to every request. `tls_port`:
    the port that serves the same over TLS, with the server's own certificate and a full handshake
    for every connection; None: no TLS. `dut`: settings of a device under test.
    """

    response_bytes: int
    request: bytes
    open_flows: int
    workers: int | None
    worker_connections: int
    tier: Tier
    profile: Path
    tunables: Mapping[str, Any]
    backlog: int | None = None
    files: Mapping[str, int] = field(default_factory=dict)
    tls_port: int | None = None
    dut: DutSettings = field(default_factory=DutSettings)


class Server(ABC):
    """One system under test, not yet started when made.

    A server that cannot run on this machine raises StackcostError from `start`, naming the
    missing part and how that was established.

    `name`: "nginx/kernel", "astf-peer". `kernel_stack`: whether it is on the kernel's stack;
    otherwise it speaks frames itself, and gets a bare interface. `wiring`: the test bed it stands
    in. `twin`: a server that does nothing of its work over the same path, which shows what the
    generator and the path can do. `ip_version`: of the clients that it is offered.
    """

    name: ClassVar[str]
    kernel_stack: ClassVar[bool] = True
    wiring: ClassVar[Wiring] = TO_SERVER
    twin: ClassVar[str] = "astf-peer"
    ip_version: IpVersion = 4

    @classmethod
    @abstractmethod
    def make(cls, endpoint: Endpoint, settings: ServerSettings) -> Self:
        """The server for an experiment, not started."""

    @classmethod
    def wiring_for(cls, settings: ServerSettings) -> Wiring:
        """The test bed it stands in for what it is asked to do."""
        return cls.wiring

    @abstractmethod
    def start(self) -> None:
        """Start it and return once `check_health` passes; on failure leave nothing behind."""

    @abstractmethod
    def check_health(self) -> None:
        """Raise StackcostError unless it serves correctly now."""

    @abstractmethod
    def response_length(self) -> int:
        """Bytes (headers and body) of one response, as probed from the running server."""

    @abstractmethod
    def processes(self) -> dict[str, int]:
        """Process ids by role, such as {"master": 811, "worker-0": 812}."""

    def depends_on(self) -> dict[str, int]:
        """Process ids by role of what it depends on beside the load; their time is not its own."""
        return {}

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Version, configuration text, worker count, cores: for the manifest."""

    @abstractmethod
    def stop(self) -> None:
        """End it and remove what it made; may be called at any time, more than once."""

    def requests_served(self) -> int | None:
        """Requests served since start by its own account; None when it keeps or tells none now."""
        return None

    def refusals(self) -> dict[str, int] | None:
        """Connections it turned away since start, by what it lacked; empty when it counts none.

        None when the server does not answer: an overwhelmed one may not.
        """
        return {}

    def dead_timeout_s(self) -> int | None:
        """How long it remembers a dead connection of others; None when it has no table of them."""
        return None

    def reset(self) -> None:
        """Forget all connections of the load, so that the next trial starts as the last did."""
        return

    def before_trial(self) -> dict[str, float]:
        """Bring it into the state in which every trial begins; returns it, for the trial's record.

        Most servers are in it at any time.
        """
        return {}

    def serve(self, profile: Path, tunables: Mapping[str, Any]) -> None:
        """From now on serve this profile of the load; most servers answer whatever comes."""
        return

    def own_collectors(self) -> list[Collector]:
        """Collectors of the running server, for figures that only it knows."""
        return []
