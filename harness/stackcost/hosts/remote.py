"""A server or a generator on another host: stubs whose calls the agent there carries out."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from typing_extensions import override

from stackcost.collect.cpu_account import Detail
from stackcost.collect.sampler import Sampler
from stackcost.contracts.collector import Collector, Phase, Reading
from stackcost.contracts.counts import Clock
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.sample import Sample
from stackcost.contracts.server import Server
from stackcost.hosts.agent import Agent
from stackcost.hosts.clock import compare_clocks
from stackcost.hosts.host import Host, finishing
from stackcost.hosts.host_sampler import HostSampler
from stackcost.remote.stub import Call, RemoteStub, call_of
from stackcost.sides.generator import RunningGenerator
from stackcost.sides.plans import GeneratorPlan, ServerPlan
from stackcost.sides.sampling import Sampling
from stackcost.sides.server import SAMPLE_INTERVAL_S, RunningServer


class RemoteServer(RemoteStub, RunningServer, of=RunningServer):
    """A server on another host.

    `cpus`: cores of this host where the collectors of this process may run; empty: all.
    """

    def __init__(self, host: Host, kind: type[Server], plan: ServerPlan, cpus: Sequence[int]):
        self._remote = host
        self._cpus = cpus
        self._offset_s = 0.0
        self._agent = host.remote(Agent)
        self.name = kind.name
        self.wiring = kind.wiring_for(plan.settings)
        self.ip_version = self._agent.open_server(kind.name, plan)

    @override
    def handle(self, call: Call) -> Any:
        return self._remote.carry_out(call)

    @contextmanager
    @override
    def sampling(self, others: Sequence[Collector], detail: Detail) -> Iterator[Sampling]:
        """Its host reads what is there, and this one the `others`."""
        self._remote.remote(HostSampler).start(detail)
        self.clocks()
        with Sampler(others, SAMPLE_INTERVAL_S, self._cpus) as own:
            yield _BothHosts(self._remote, own, self._moved)

    @override
    def clocks(self) -> dict[str, Clock]:
        """From now on its samples are moved by this offset."""
        clock = compare_clocks(self._agent.clock)
        self._offset_s = clock.offset_s
        return {self._remote.name: clock}

    def _moved(self, samples: list[Sample]) -> list[Sample]:
        """Samples of its host, moved to the clock of this one."""
        return [sample._replace(time=sample.time - self._offset_s) for sample in samples]


class _BothHosts:
    """Readings of a server's host and of this one. What was read stays when the line is cut."""

    def __init__(self, host: Host, own: Sampler, moved: Callable[[list[Sample]], list[Sample]]):
        self._host = host
        self._remote = host.remote(HostSampler)
        self._own = own
        self._moved = moved
        self._samples: list[Sample] = []
        self._readings: list[Reading] = []
        self._taken = 0  # readings of this host
        self._lock = threading.Lock()

    @property
    def samples(self) -> list[Sample]:
        """Samples of both hosts as they came; those of the other one are fetched first."""
        self._fetch()
        return self._samples

    @property
    def readings(self) -> list[Reading]:
        """Readings of both hosts; those of the other one are fetched first."""
        self._fetch()
        return self._readings

    def read_now(self) -> list[Sample]:
        """Both at once."""
        call = call_of(HostSampler, "read_now")
        answer = self._host.ask(call)
        own = self._own.read_now()
        remote = self._moved(self._host.wait(call, answer))
        self._keep(remote)
        return own + remote

    def read_often(self, interval_s: float) -> None:
        """On both hosts. The next reading reports a line that is cut."""
        self._own.read_often(interval_s)
        with suppress(StackcostError):
            self._remote.read_often(interval_s)

    def in_phase(self, phase: Phase, on: bool) -> None:
        """On both hosts."""
        with suppress(StackcostError):
            self._remote.in_phase(phase, on)
        self._own.in_phase(phase, on)

    def _fetch(self) -> None:
        with suppress(StackcostError):
            self._keep(self._moved(self._remote.take()))

    def _keep(self, remote: list[Sample]) -> None:
        with self._lock:
            own = self._own.readings[self._taken :]
            self._taken += len(own)
            new = [Reading(None, remote), *own] if remote else own
            self._readings += new
            self._samples += [sample for each in new for sample in each.samples]


@contextmanager
def remote_server(
    host: Host, kind: type[Server], plan: ServerPlan, folder: Path, cpus: Sequence[int]
) -> Iterator[RemoteServer]:
    """A server on a host; the agent undoes everything on exit.

    `folder` takes the logs from there. `cpus`: see `RemoteServer`.
    """
    with finishing(host.remote(Agent).close, folder / host.name):
        yield RemoteServer(host, kind, plan, cpus)


@contextmanager
def remote_generator(host: Host, plan: GeneratorPlan, folder: Path) -> Iterator[RunningGenerator]:
    """A generator on a host; the agent undoes everything on exit.

    `folder` takes the logs from there. The agent drives the generator next to it, so TRex's RPC
    stays on the loopback of a namespace of that host. What is read gets its time here.
    """
    agent = host.remote(Agent)
    with finishing(agent.close, folder / host.name):
        agent.open_generator(plan)
        yield host.remote(RunningGenerator)
