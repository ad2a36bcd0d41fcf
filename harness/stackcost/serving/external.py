"""The serving side of a device that has no host for stackcost: only its two ports are reached.

Nothing of it can be read or changed here, so each such figure is unknown, with this reason.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stackcost.collect.cpu_account import Detail
from stackcost.collect.sampler import Sampler
from stackcost.contracts.collector import Collector
from stackcost.contracts.counts import Clock, Limits
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.sample import Sample
from stackcost.contracts.server import Server
from stackcost.contracts.stack import When
from stackcost.serving.here import SAMPLE_INTERVAL_S, machine_collectors
from stackcost.serving.plan import ServingPlan
from stackcost.serving.side import Interface, Sampling, ServingSide

NO_HOST = "nothing of stackcost runs on the device, so nothing is read there"


class Unread(Collector):
    """Stands for the collectors that would read the device."""

    name = "device"

    def __init__(self) -> None:
        there = machine_collectors("", (), {})
        self.metrics = tuple(metric for each in there for metric in each.metrics)

    def start(self) -> None:
        """Its metrics are unknown, for this reason."""
        raise StackcostError(NO_HOST)

    def read(self) -> list[Sample]:
        """Never asked."""
        return []


class ServingNowhere(ServingSide):
    """A device by its configuration. `cpus`: cores of this host for the collectors; empty: all."""

    def __init__(self, kind: type[Server], plan: ServingPlan, cpus: Sequence[int]):
        self._settings = plan.settings
        self._cpus = cpus
        self.name = kind.name
        self.ip_version = plan.settings.dut.ip_version
        self.wiring = kind.wiring_for(plan.settings)

    def response_length(self) -> int:
        """As the experiment sets it for the servers behind the device."""
        return self._settings.response_bytes

    def probe_request(self) -> None:
        """None is needed."""
        return

    def check(self) -> None:
        """Nobody tells whether it lives; the generator's counters do."""
        return

    @contextmanager
    def sampling(self, others: Sequence[Collector], detail: Detail) -> Iterator[Sampling]:
        """The `others` alone."""
        with Sampler([*others, Unread()], SAMPLE_INTERVAL_S, self._cpus) as sampler:
            yield sampler

    def clocks(self) -> dict[str, Clock]:
        """No samples come from it."""
        return {}

    def before_trial(self) -> dict[str, float]:
        """Nothing is known of its state."""
        return {}

    def serve(self, profile: Path, tunables: Mapping[str, Any]) -> None:
        """The generator has the servers."""
        return

    def look(self, when: When) -> None:
        """Its stack is its own."""
        return

    def proof(self, idle: bool) -> None:
        """Its stack is its own."""
        return

    def requests_served(self) -> None:
        """It keeps no count for us."""
        return

    def refusals(self) -> dict[str, int]:
        """None that it tells."""
        return {}

    def limits(self, port: int) -> Limits:
        """None that it tells."""
        return Limits(no_accept_queue=NO_HOST)

    def frames(self) -> list[Interface | None]:
        """They are only counted at the generator's ports."""
        return [None, None]

    def dead_timeout_s(self) -> None:
        """Unknown."""
        return

    def reset(self) -> None:
        """It keeps its state from one trial to the next."""
        return

    def cut_link(self) -> None:
        """Its links are not ours."""
        raise StackcostError(f"{self.name} has no link that stackcost could cut")

    def remove_device(self) -> None:
        """Nor is it."""
        raise StackcostError(f"{self.name} cannot be removed by stackcost")

    def open_connections(self) -> int:
        """The generator has both ends."""
        return 0

    def end_connections(self, port: int) -> None:
        """The generator has both ends."""
        return

    def describe(self) -> dict[str, Any]:
        """What it is, and the addresses that its owner has to give it."""
        device = self._settings.dut.device
        assert device is not None
        clients, servers = self.wiring.ports
        return {
            "test_bed": {
                "kind": "interfaces of the load's host, joined to a device",
                "cpus": {"server": []},
                "interfaces": [],
                "offloads": {},
                "receive_steering": [],
                "not_undone": [],
            },
            "server": {
                "name": self.name,
                "device": device.model_dump(mode="json"),
                "not_read": NO_HOST,
                "clients_side": {"address": clients.gateway, "clients_by": clients.address},
                "servers_side": {"address": servers.gateway, "servers_by": servers.address},
            },
        }
