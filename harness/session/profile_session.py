"""A session for ASTF profiles: one server on a new test bed, with a generator."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stackcost.collect.cpu_account import Detail
from stackcost.collect.engine import SCHEDULE_METHOD, Engine, engine_time
from stackcost.collect.latency import Latency
from stackcost.contracts.counts import Schedule
from stackcost.contracts.load import ProfileTraffic
from stackcost.contracts.server import Server
from stackcost.harness.experiment.schema import Experiment
from stackcost.harness.session.progress import Progress
from stackcost.harness.session.server_session import ServerSession
from stackcost.harness.session.server_settings import tunables_of
from stackcost.harness.session.sides import both_sides
from stackcost.host.namespace import spawner
from stackcost.trex.client import TrexClient
from stackcost.trex.generator import Generator
from stackcost.trex.trex_config import TrexConfig

SETUP_S = 6.0  # until the first trial, on a machine of two cores; for the display of the time left


@dataclass(slots=True, kw_only=True)
class ProfileSession(ServerSession):
    """A session for trials of ASTF profiles. `response_bytes`: as probed from the server."""

    generator: Generator
    client: TrexClient
    response_bytes: int

    def check_parts(self) -> None:
        """StackcostError that names the part that has ended or is stopped.

        The parts are the generator, its client and the server.
        """
        self.generator.check()
        self.client.check()
        ServerSession.check_parts(self)  # a class with slots has no zero-argument super()

    def tunables(self) -> dict[str, Any]:
        """Arguments of the suite's HTTP profiles."""
        version = self.serving.ip_version
        return tunables_of(self.experiment.workload, self.response_bytes, version)

    def describe(self) -> dict[str, Any]:
        """The set-up, for the manifest."""
        return ServerSession.describe(self) | {"generator": self.generator.describe()}

    def read_generator(self, traffic: ProfileTraffic) -> None:
        """Fill in the generator's counters of this trial, and how it kept its schedule."""
        traffic.client = _numbers(self.client.stats()["traffic"]["client"])
        if self.client.supports(SCHEDULE_METHOD):
            told = self.client.call(SCHEDULE_METHOD, {"profile_id": "_"})
            traffic.schedule = Schedule(**told)


@contextmanager
def open_profile_session(
    kind: type[Server],
    experiment: Experiment,
    folder: Path,
    where: str,
    progress: Progress,
    detail: Detail = Detail.SOFTIRQS,
) -> Iterator[ProfileSession]:
    """Start test bed, server and generator, and probe the response; stop everything on exit.

    `folder` takes the configuration and logs of the server and the generator.
    `detail`: how detailed CPU time is measured.
    """
    with both_sides(kind, experiment, folder, where, progress) as (serving, bed):
        length = serving.response_length()
        progress.say(
            f"{where}: server is healthy, response of {length:,} bytes; starting the generator"
        )
        config = TrexConfig("generator", bed.wiring.ports, bed.cpus.load)
        spawn = spawner(bed.load_namespace, bed.cpus.load)
        with (
            TrexClient(spawn) as client,  # its process needs as long as the generator to start
            Generator(config, folder, spawn) as generator,
            closing(client),  # before the generator ends
        ):
            with generator.blamed():
                client.connect()
                client.reset()
            bed.steer()
            collectors = [
                Engine("generator", client),
                engine_time("generator", client, config.data_cpus),
                Latency(client),
            ]
            with serving.sampling(collectors, detail) as sampler:
                yield ProfileSession(
                    experiment=experiment,
                    where=where,
                    serving=serving,
                    bed=bed,
                    generator=generator,
                    client=client,
                    sampler=sampler,
                    progress=progress,
                    response_bytes=length,
                    folder=folder,
                )


def _numbers(counters: Mapping[str, Any]) -> dict[str, float]:
    return {name: n for name, n in counters.items() if isinstance(n, int | float)}
