"""The systems under test that an experiment can name, made ready for its workload."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from harness.collect.engine import Engine
from harness.errors import StackcostError
from harness.experiment.schema import Experiment, Workload
from harness.load.client import TrexClient
from harness.model import Collector
from harness.tuning import tier_of
from servers.astf_peer import AstfPeer
from servers.astf_peer.request import first_request
from servers.astf_peer.server import NO_CLIENTS
from servers.base import Endpoint, Server
from servers.nginx_kernel import NginxKernel

SPARE_FILES = 200  # beside its connections, nginx opens logs, sockets and what it serves

Tunables = Mapping[str, Any]


class System(Protocol):
    """A server, and what a session has to know of it beyond `servers.base`.

    `own_collectors`: for figures that only it knows.
    """

    server: Server

    def start(self) -> None:
        """Start the server, ready for the memory part's profile."""

    def serve(self, profile: Path, tunables: Tunables) -> None:
        """From now on serve another profile."""

    def own_collectors(self) -> list[Collector]:
        """Collectors of the running server."""


MakeSystem = Callable[[str, Experiment, Endpoint], System]


def on_kernel_stack(name: str) -> bool:
    """Whether its end of the wire gets addresses of the kernel; otherwise it stays bare."""
    return name != "astf-peer"


def make_system(name: str, experiment: Experiment, endpoint: Endpoint) -> System:
    """The system of this name, not started."""
    if name == "nginx/kernel":
        return _Nginx(experiment, endpoint)
    return _Peer(experiment, endpoint)


def tunables_of(workload: Workload, response_bytes: int) -> dict[str, Any]:
    """Arguments of the suite's HTTP profiles; `response_bytes` counts headers and body."""
    return {
        "request_bytes": workload.request_bytes,
        "response_bytes": response_bytes,
        "clients": workload.clients,
        "servers": f"{workload.server}-{workload.server}",
        "port": workload.port,
    }


class _Nginx:
    def __init__(self, experiment: Experiment, endpoint: Endpoint):
        workload = experiment.workload
        self._response_bytes = workload.response_bytes
        self._most_flows = max(experiment.memory.open_flows)
        self._nginx = NginxKernel(
            endpoint,
            body_bytes=workload.response_bytes,
            workers=experiment.nginx.workers,
            worker_connections=experiment.nginx.worker_connections,
            directives=tier_of(experiment.nginx.tuning).directives(),
            request=_request_of(experiment.load.profile, workload),
        )
        self.server: Server = self._nginx

    def start(self) -> None:
        self._nginx.start()
        self._nginx.fit_response(self._response_bytes)
        needed = self._most_flows + SPARE_FILES
        if self._nginx.open_files() < needed:
            raise StackcostError(
                f"nginx may open {self._nginx.open_files():,} files on this machine, and "
                f"{self._most_flows:,} open flows need {needed:,}",
                "raise the hard limit (ulimit -Hn), or lower memory.open_flows of the experiment",
            )

    def serve(self, profile: Path, tunables: Tunables) -> None:
        """nginx answers whatever comes."""

    def own_collectors(self) -> list[Collector]:
        return []


class _Peer:
    def __init__(self, experiment: Experiment, endpoint: Endpoint):
        workload = experiment.workload
        self._peer = AstfPeer(
            endpoint,
            experiment.memory.profile,
            tunables_of(workload, workload.response_bytes),
        )
        self.server: Server = self._peer

    def start(self) -> None:
        self.server.start()

    def serve(self, profile: Path, tunables: Tunables) -> None:
        client = self._peer.client
        client.stop()
        client.load_profile(profile, dict(tunables))
        client.start(mult=1, client_mask=NO_CLIENTS)

    def own_collectors(self) -> list[Collector]:
        return [Engine("peer", self._peer.client)]


def _request_of(profile: Path, workload: Workload) -> bytes:
    """The very request that the load will send: the response's length may depend on it."""
    with TrexClient() as client:
        return first_request(
            client.profile_json(profile, tunables_of(workload, workload.response_bytes))
        )
