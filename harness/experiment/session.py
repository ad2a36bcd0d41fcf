"""One server on a fresh test bed with a generator in front of it, and everything read meanwhile."""

import dataclasses
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from harness.collect.cpu import CpuTime
from harness.collect.cpu_account import CpuAccount
from harness.collect.engine import SCHEDULE_METHOD, Engine
from harness.collect.hardware import HardwareCounters
from harness.collect.latency import Latency
from harness.collect.network import Network
from harness.collect.process import Processes
from harness.collect.sampler import Sampler
from harness.collect.slab import Slab
from harness.collect.softnet import Softnet
from harness.errors import StackcostError
from harness.experiment.progress import Progress
from harness.experiment.schema import Experiment
from harness.experiment.task import task_of
from harness.load.client import TrexClient
from harness.load.generator import Generator
from harness.load.trex_config import Port, TrexConfig
from harness.model import Collector, Sample
from harness.stack import KERNEL, Stack, stack_of
from harness.stack.base import When
from harness.testbed.local import LocalTestbed
from harness.testbed.namespace import spawner
from harness.testbed.network import LOAD_ADDRESS, SERVER_ADDRESS
from harness.testbed.steering import ReceiveWork
from harness.tuning import Tuning
from servers.base import Server

SAMPLE_INTERVAL_S = 1.0


@dataclass(slots=True)
class Session:
    """What trials are run on.

    `where`: round and server, for people. `response_bytes`: as probed from the running server.
    `processes`: the server's, by role, as they were at its start. `folder`: logs of all programs.
    """

    experiment: Experiment
    where: str
    bed: LocalTestbed
    server: Server
    stack: Stack
    tuning: Tuning
    generator: Generator
    client: TrexClient
    sampler: Sampler
    progress: Progress
    response_bytes: int
    processes: dict[str, int]
    folder: Path
    _mark: int = 0

    def say(self, what: str) -> None:
        """Show what is being done now."""
        self.progress.say(f"{self.where}: {what}")

    def check_parts(self) -> None:
        """StackcostError naming the part that has ended by itself: the generator or the server."""
        self.generator.check()
        for role, process in self.processes.items():
            if not _lives(process):
                raise StackcostError(
                    f"{self.server.name} ended during the trial: its {role}, process "
                    f"{process}, is gone",
                    f"see its log below {self.folder}",
                )

    def begin_trial(self) -> None:
        """From now on samples belong to the next trial."""
        self._mark = len(self.sampler.samples)

    def trial_samples(self) -> list[Sample]:
        """Everything read since `begin_trial`."""
        return self.sampler.samples[self._mark :]

    def look(self, when: When) -> None:
        """See what carries the server's connections now; in the order of `When` in each trial."""
        self.stack.prove(when, self.processes)

    def read_edge(self) -> float:
        """Read everything now; returns the CLOCK_MONOTONIC second that lies amid the reading."""
        before = time.monotonic()
        self.sampler.read_now()
        return (before + time.monotonic()) / 2

    def describe(self) -> dict[str, Any]:
        """What it runs on, for the manifest."""
        return {
            "test_bed": self.bed.describe(),
            "server": self.server.describe()
            | {"tuning": self.tuning.describe(), "stack": self.stack.describe()},
            "generator": self.generator.describe(),
        }

    def generator_report(self) -> dict[str, Any]:
        """The generator's counters of this trial, and how it kept its schedule."""
        traffic = self.client.stats()["traffic"]
        schedule = None
        if self.client.supports(SCHEDULE_METHOD):
            schedule = self.client.call(SCHEDULE_METHOD, {"profile_id": "_"})
        return {"client": _numbers(traffic["client"]), "schedule": schedule}


@contextmanager
def open_session(
    kind: type[Server],
    experiment: Experiment,
    folder: Path,
    where: str,
    progress: Progress,
    split_at_syscalls: bool = False,
) -> Iterator[Session]:
    """Test bed up, server up and healthy, its response probed, generator up; all undone on exit.

    `folder` takes the configuration and logs of the server and the generator.
    `split_at_syscalls`: see `CpuAccount`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    cores = experiment.cores
    progress.say(f"{where}: test bed")
    workload = experiment.workload
    task = task_of(experiment, kind)
    tier = task.tier
    receive_cpus, program_cpus = tier.receive.share(cores.server)
    bed_of_tier = LocalTestbed(
        cores.load,
        cores.server,
        kernel_server=kind.kernel_stack,
        server_receive=ReceiveWork(
            receive_cpus, tier.receive.poll_threads, tier.receive.packet_steering
        ),
        service_address=str(workload.server),
        service_port=workload.port,
        client_network=str(workload.client_network),
    )
    with bed_of_tier as bed, Tuning(tier, bed.server_namespace) as tuning:
        endpoint = dataclasses.replace(bed.endpoint(folder / "server"), cpus=program_cpus)
        workers = task.workers or len(program_cpus)
        stack = stack_of(
            experiment.nginx.stack if kind.kernel_stack else KERNEL, endpoint.place(workers)
        )
        server = kind.make(dataclasses.replace(endpoint, stack=stack), task)
        progress.say(f"{where}: server")
        try:
            stack.prepare()
            start_on(stack, server)
            length = server.response_length()
            progress.say(f"{where}: healthy, a response has {length:,} bytes; generator")
            ports = (Port(bed.load_interface, LOAD_ADDRESS, SERVER_ADDRESS), Port("dummy"))
            config = TrexConfig("generator", ports, bed.cpus.load)
            spawn = spawner(bed.load_namespace, bed.cpus.load)
            with Generator(config, folder, spawn) as generator, TrexClient(spawn) as client:
                client.connect()
                client.reset()
                bed.steer()
                processes = server.processes()
                collectors = [
                    *machine_collectors(bed.server_namespace, processes, split_at_syscalls),
                    Engine("generator", client),
                    Latency(client),
                    *server.own_collectors(),
                ]
                with Sampler(collectors, SAMPLE_INTERVAL_S, bed.cpus.load) as sampler:
                    yield Session(
                        experiment,
                        where,
                        bed,
                        server,
                        stack,
                        tuning,
                        generator,
                        client,
                        sampler,
                        progress,
                        length,
                        processes,
                        folder,
                    )
        finally:
            server.stop()
            stack.release()


def start_on(stack: Stack, server: Server) -> None:
    """Start it; when it does not, the stack may know why better than its own words."""
    try:
        server.start()
    except StackcostError as error:
        raise stack.explain(error) from error


def _lives(process: int) -> bool:
    try:
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def machine_collectors(
    server_namespace: str, processes: Mapping[str, int], split_at_syscalls: bool = False
) -> list[Collector]:
    """All that is read of the machine itself and of the server's processes, by role."""
    return [
        CpuAccount(split_at_syscalls),
        CpuTime(),
        HardwareCounters(),
        Softnet(),
        Network(server_namespace),
        # Looking for the processes at every reading would fill caches of /proc.
        Processes(lambda: processes),
        Slab(),
    ]


def _numbers(counters: Mapping[str, Any]) -> dict[str, float]:
    return {name: n for name, n in counters.items() if isinstance(n, int | float)}
