"""A device that has no host for stackcost: only its two ports are reached.

Nothing of it can be read or changed here, so each such figure is unknown, with this reason.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, get_args

from typing_extensions import override

from stackcost.collect.cpu_account import Detail
from stackcost.collect.sampler import Sampler
from stackcost.contracts.collector import Collector
from stackcost.contracts.counts import Limits
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.sample import Sample
from stackcost.contracts.server import Server
from stackcost.remote.stub import Call, RemoteStub
from stackcost.sides.plans import ServerPlan
from stackcost.sides.sampling import Sampling
from stackcost.sides.server import (
    SAMPLE_INTERVAL_S,
    RunningServer,
    machine_collectors,
)

NO_HOST = "nothing of stackcost runs on the device, so nothing is read there"
# What a session may ask for, and need not be done or read on such a device.
ANSWERS: dict[str, Any] = {
    "check": None,  # the generator's counters show whether it lives
    "serve": None,  # the generator has the servers
    "check_stack": None,  # its stack is its own
    "reset": None,  # it keeps its state from one trial to the next
    "clocks": {},
    "before_trial": {},
    "refusals": {},
    "sampled_statuses": None,  # the generator has the servers
    "limits": Limits(no_accept_queue=NO_HOST),
    "frames": [None, None],  # they are only counted at the generator's ports
    "open_connections": 0,  # the generator has both ends
    "end_connections": None,
}


class Unread(Collector):
    """Stands for the collectors that would read the device; its metrics are unknown."""

    name = "device"

    def __init__(self) -> None:
        device = machine_collectors("", (), {})
        self.metrics = tuple(metric for each in device for metric in each.metrics)

    @override
    def start(self) -> None:
        raise StackcostError(NO_HOST)

    @override
    def read(self) -> list[Sample]:
        return []


class ExternalDevice(RemoteStub, RunningServer, of=RunningServer):
    """A device by its configuration. `cpus`: cores of this host for the collectors; empty: all."""

    def __init__(self, kind: type[Server], plan: ServerPlan, cpus: Sequence[int]):
        self._settings = plan.settings
        self._cpus = cpus
        self.name = kind.name
        self.ip_version = plan.settings.dut.ip_version
        self.wiring = kind.wiring_for(plan.settings)

    @override
    def handle(self, call: Call) -> Any:
        """Answer as `ANSWERS` has it. What may be unknown is None; the rest is refused."""
        name, returns = call.method.__name__, call.method.__annotations__["return"]
        if name in ANSWERS:
            return ANSWERS[name]
        if type(None) in get_args(returns):
            return None
        raise StackcostError(f"{self.name} is only reached by its ports, so it has no {name}")

    @override
    def response_length(self) -> int:
        """Bytes as the experiment sets them for the servers behind the device."""
        return self._settings.response_bytes

    @contextmanager
    @override
    def sampling(self, others: Sequence[Collector], detail: Detail) -> Iterator[Sampling]:
        """The `others` alone."""
        with Sampler([*others, Unread()], SAMPLE_INTERVAL_S, self._cpus) as sampler:
            yield sampler

    @override
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
