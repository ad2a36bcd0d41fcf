"""The ASTF server peer: a second engine on the server's cores, which serves the load's profile."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from stackcost.collect.engine import Engine, engine_time
from stackcost.contracts.addresses import LOAD_ADDRESS, SERVER_ADDRESS
from stackcost.contracts.collector import Collector
from stackcost.contracts.endpoint import Endpoint
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.server import Server, ServerSettings, engine_congestion_control
from stackcost.contracts.tls import TlsSettings
from stackcost.contracts.wiring import Port
from stackcost.host.namespace import spawner
from stackcost.host.steering import ReceiveWork, Steering, steer_receive
from stackcost.servers.probe import ask_as_load
from stackcost.trex.astf_server import AstfServer
from stackcost.trex.client import TrexClient
from stackcost.trex.request import first_request
from stackcost.trex.trex_config import TrexConfig

NO_CLIENTS = 0  # client mask: no port opens connections


class AstfPeer(Server):
    """An ASTF server that opens no connections, on a server interface without addresses.

    `profile`, `tunables`, `tls`: those of the load. It must be started before the generator
    attaches to the load's interface, because the kernel's stack there probes it.
    """

    name = "astf-peer"
    kernel_stack = False
    serves_profile = True
    takes_tls = True
    not_counted = ""

    def __init__(
        self,
        endpoint: Endpoint,
        profile: Path,
        tunables: Mapping[str, Any] | None = None,
        tls: TlsSettings | None = None,
    ):
        self._endpoint = endpoint
        self._profile = profile
        self._tunables = dict(tunables or {})
        self._tls = tls
        self._generator: AstfServer | None = None
        self._client: TrexClient | None = None
        self._steering: Steering | None = None
        self._response_length: int | None = None
        self._probes = 0

    @classmethod
    def make(cls, endpoint: Endpoint, settings: ServerSettings) -> Self:
        """The peer of an experiment's load."""
        return cls(endpoint, settings.profile, settings.tunables, settings.tls)

    @property
    def client(self) -> TrexClient:
        """The RPC connection to it, for its own figures."""
        if self._client is None:
            raise StackcostError(f"{self.name} is not started")
        return self._client

    def start(self) -> None:
        """Start the engine and its profile, steer its receive work, and fetch one response."""
        self.stop()
        where = self._endpoint
        where.folder.mkdir(parents=True, exist_ok=True)
        ports = (Port("dummy"), Port(where.interface, SERVER_ADDRESS, LOAD_ADDRESS))
        config = TrexConfig(self.name, ports, where.cpus)
        try:
            self._generator = AstfServer(config, where.folder, spawner(where.namespace, where.cpus))
            self._generator.start()
            self._steering = steer_receive(
                where.namespace, where.interface, ReceiveWork(where.cpus)
            )
            # The client belongs to the harness, so it must not run on the server's cores.
            harness_cpus = os.sched_getaffinity(0)
            self._client = TrexClient(spawner(where.namespace, harness_cpus))
            self._client.blame(self._generator.blamed)
            self._client.connect()
            self._client.reset()
            self._serve(self._profile, self._tunables)
            if not where.neighbours:
                self._response_length = self._probe()
            self.check_health()
        except BaseException:
            self.stop()
            raise

    def check_health(self) -> None:
        """The engine runs, answers and serves; a real fetch was made when it started."""
        if self._generator is None:
            raise StackcostError(f"{self.name} is not started")
        self._generator.check()
        if not self.client.is_traffic_active():
            raise StackcostError(f"{self.name} has stopped serving", f"see {self._endpoint.folder}")

    def response_length(self) -> int:
        """Bytes of headers and body that the kernel's stack received from it at start."""
        if self._response_length is None:
            raise StackcostError(f"{self.name} is not started")
        return self._response_length

    def probe_request(self) -> bytes | None:
        """The load's request, if the load is on another host: the kernel here has no address."""
        return self._request() if self._endpoint.neighbours else None

    def requests_served(self) -> int | None:
        """Connections accepted since start by its own count, without those made here."""
        return int(self.client.stats()["traffic"]["server"]["tcps_accepts"]) - self._probes

    def serve(self, profile: Path, tunables: Mapping[str, Any]) -> None:
        """Serve another profile, with the same response."""
        self.client.stop()
        self._serve(profile, tunables)

    def own_collectors(self) -> list[Collector]:
        """Collectors of the engine's own figures."""
        if self._generator is None:
            return []
        data_cpus = self._generator.config.data_cpus
        return [Engine("peer", self.client), engine_time("peer", self.client, data_cpus)]

    def processes(self) -> dict[str, int]:
        """The engine, and the kernel threads that do the receive work of its interface."""
        if self._generator is None:
            return {}
        polls = self._steering.poll_threads if self._steering else ()
        return {
            **self._generator.process_ids,
            **{f"receive-poll-{i}": thread for i, thread in enumerate(polls)},
        }

    def describe(self) -> dict[str, Any]:
        """Program, configuration and profile."""
        return {
            "name": self.name,
            "cpus": list(self._endpoint.cpus),
            "profile": str(self._profile),
            "tunables": self._tunables,
            "tls": self._tls.model_dump(mode="json") if self._tls else None,
            "receive_steering": self._steering.describe() if self._steering else None,
            **(self._generator.describe() if self._generator else {}),
        }

    def congestion_control(self) -> str:
        """Of the engine, or of a real TRex."""
        return engine_congestion_control(self._profile)

    def stop(self) -> None:
        """End client and engine; configuration and log stay in the folder."""
        if self._client is not None:
            self._client.close()
        if self._generator is not None:
            self._generator.stop()
        self._client = self._generator = self._steering = self._response_length = None
        self._probes = 0

    def _serve(self, profile: Path, tunables: Mapping[str, Any]) -> None:
        tls = self._tls.parameters() if self._tls else None
        self.client.load_profile(profile, dict(tunables), tls=tls)
        self.client.start(mult=1, client_mask=NO_CLIENTS)

    def _probe(self) -> int:
        where = self._endpoint
        request, tls = self._request(), self._tls is not None
        response = ask_as_load(self.name, where.address, where.port, request, tls)
        self._probes += 1
        return response.length

    def _request(self) -> bytes:
        return first_request(self.client.profile_json(self._profile, self._tunables))
