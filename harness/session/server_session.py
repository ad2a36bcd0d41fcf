"""One server on a fresh test bed, and everything read meanwhile; what loads it comes on top."""

import dataclasses
import statistics
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from stackcost.collect.core_speed import CoreSpeed
from stackcost.collect.cpu import CpuTime
from stackcost.collect.cpu_account import CpuAccount, Detail
from stackcost.collect.hardware import HardwareCounters
from stackcost.collect.kernel_log import KernelLog
from stackcost.collect.namespace import namespace_settings
from stackcost.collect.network import Network
from stackcost.collect.process import Processes
from stackcost.collect.sampler import Sampler
from stackcost.collect.slab import Slab
from stackcost.collect.softnet import Softnet
from stackcost.contracts.collector import Collector
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.sample import Sample
from stackcost.contracts.server import Server
from stackcost.contracts.stack import KERNEL, Stack, When
from stackcost.harness.bed import hugepages, network
from stackcost.harness.bed.local import LocalTestbed
from stackcost.harness.experiment.schema import Experiment
from stackcost.harness.session.progress import Progress
from stackcost.harness.session.server_settings import server_settings
from stackcost.harness.tuning import Tuning
from stackcost.host.liveness import check_lives
from stackcost.host.patience import patience
from stackcost.host.steering import ReceiveWork
from stackcost.stacks import stack_of

SAMPLE_INTERVAL_S = 1.0


@dataclass(slots=True, kw_only=True)
class ServerSession:
    """What trials are run on.

    `where`: round and server, for people. `processes`: the server's and its stack's, by role, as
    they were at its start. `folder`: logs of all programs.
    """

    experiment: Experiment
    where: str
    bed: LocalTestbed
    server: Server
    tuning: Tuning
    stack: Stack
    sampler: Sampler
    progress: Progress
    processes: dict[str, int]
    folder: Path
    _mark: int = 0

    def say(self, what: str) -> None:
        """Show what is being done now."""
        self.progress.say(f"{self.where}: {what}")

    def check_parts(self) -> None:
        """StackcostError that names the part that has ended or is stopped."""
        for role, process in (self.processes | self.server.depends_on()).items():
            check_lives(
                process,
                f"{self.server.name} has failed: its {role}",
                f"see its log in {self.folder}",
            )

    def look(self, when: When) -> None:
        """Record which stack carries the connections now; call it in the order of `When`."""
        self.stack.prove(when, self.processes)

    def begin_trial(self) -> None:
        """From now on samples belong to the next trial."""
        self._mark = len(self.sampler.samples)

    def trial_samples(self) -> list[Sample]:
        """Everything read since `begin_trial`."""
        return self.sampler.samples[self._mark :]

    def read_edge(self) -> float:
        """Read everything now; returns the CLOCK_MONOTONIC second that lies amid the readings.

        The median of their times: a server amid handshakes may take a third of a second to tell its
        own count, and the machine was read before.
        """
        return statistics.median(sample.time for sample in self.sampler.read_now())

    def describe(self) -> dict[str, Any]:
        """What it runs on, for the manifest."""
        return {
            "test_bed": self.bed.describe()
            | {"sysctls": namespace_settings(self.bed.server_namespace)},
            "server": self.server.describe()
            | {"tuning": self.tuning.describe(), "stack": self.stack.describe()},
        }


class RunningServer(NamedTuple):
    """A server that stands, and what it stands on."""

    bed: LocalTestbed
    tuning: Tuning
    stack: Stack
    server: Server


@contextmanager
def running_server(
    kind: type[Server],
    experiment: Experiment,
    folder: Path,
    where: str,
    progress: Progress,
    wanted_hugepages: int = hugepages.USUAL_COUNT,
) -> Iterator[RunningServer]:
    """Test bed up, tier set, stack ready, server up and healthy; all undone on exit.

    `folder` takes the configuration and logs of the server.
    """
    folder.mkdir(parents=True, exist_ok=True)
    cores = experiment.cores
    progress.say(f"{where}: test bed")
    workload = experiment.workload
    settings = server_settings(experiment, kind)
    tier, wiring = settings.tier, kind.wiring_for(settings)
    receive_cpus, program_cpus = tier.receive.share(cores.server)
    bed_of_tier = LocalTestbed(
        cores.load,
        cores.server,
        wiring=wiring,
        kernel_server=kind.kernel_stack or wiring.server is not None,
        server_receive=ReceiveWork(
            receive_cpus, tier.receive.poll_threads, tier.receive.packet_steering
        ),
        service_address=str(workload.server),
        service_port=workload.port,
        client_network=str(workload.client_network),
        initial_window=network.INITIAL_WINDOW[workload.tcp],
        wanted_hugepages=wanted_hugepages,
        may_share=cores.shared,
    )
    with (
        patience(experiment.patience),
        bed_of_tier as bed,
        Tuning(tier, bed.server_namespace) as tuning,
    ):
        endpoint = dataclasses.replace(bed.endpoint(folder / "server"), cpus=program_cpus)
        workers = settings.workers or len(program_cpus)
        stack = stack_of(
            experiment.nginx.stack if kind.kernel_stack else KERNEL,
            endpoint.placement(workers, settings.open_flows),
        )
        server = kind.make(dataclasses.replace(endpoint, stack=stack), settings)
        progress.say(f"{where}: server")
        try:
            stack.prepare()
            start_on(stack, server)
            bed.steer()  # a stack that took the interface made receive work by that
            yield RunningServer(bed, tuning, stack, server)
        finally:
            server.stop()
            stack.release()


def start_on(stack: Stack, server: Server) -> None:
    """Start it; when it does not, the stack may know why better than its own words."""
    try:
        server.start()
    except StackcostError as error:
        raise stack.explain(error) from error


def machine_collectors(
    server_namespace: str,
    server_cpus: Collection[int],
    processes: Mapping[str, int],
    detail: Detail = Detail.SOFTIRQS,
) -> list[Collector]:
    """All that is read of the machine itself and of the server's processes, by role."""
    return [
        CpuAccount(detail),
        CpuTime(),
        CoreSpeed(server_cpus),
        HardwareCounters(),
        Softnet(),
        KernelLog(),
        Network(server_namespace),
        # Looking for the processes at every reading would fill caches of /proc.
        Processes(lambda: processes),
        Slab(),
    ]
