"""A session for ASTF profiles: one server on a new test bed, with a generator."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stackcost.collect.cpu_account import Detail
from stackcost.collect.engine import (
    SCHEDULE_METHOD,
    TLS_KEYS_METHOD,
    TLS_METHOD,
    Engine,
    engine_time,
)
from stackcost.collect.latency import Latency
from stackcost.contracts.counts import Schedule
from stackcost.contracts.load import ProfileTraffic
from stackcost.contracts.network import NetworkCounts, NetworkSettings
from stackcost.contracts.profile_file import ProfileFile
from stackcost.contracts.server import Server
from stackcost.contracts.tls import TlsCounts
from stackcost.experiment.schema import Experiment
from stackcost.host.waiting import wait_until
from stackcost.session.both_sides import server_and_generator
from stackcost.session.progress import Progress
from stackcost.session.server_session import ServerSession
from stackcost.session.server_settings import tunables_of
from stackcost.sides.generator import RunningGenerator
from stackcost.trex.astf_client import ONLY

TLS_KEYS = "tls_keys.log"


def keep_tls_keys(call: Callable[[str, dict[str, Any]], Any], folder: Path) -> None:
    """Append what the generators kept and nobody has taken to TLS_KEYS in `folder`.

    `call`: of the generators. The lines are as of NSS's key log (SSLKEYLOGFILE), which Wireshark
    reads. Without any, no file is made.
    """
    while lines := call(TLS_KEYS_METHOD, {"profile_id": ONLY})["lines"]:
        with (folder / TLS_KEYS).open("a") as file:
            file.write(lines)


POLL_S = 0.1
SETUP_S = 6.0  # until the first trial, on a machine of two cores; for the display of the time left


@dataclass(slots=True, kw_only=True)
class ProfileSession(ServerSession):
    """A session for trials of ASTF profiles.

    `generator`: one, or several as one. `latency`: times of their connections, second by second.
    """

    generator: RunningGenerator
    latency: Latency
    response_bytes: int
    _network_before: dict[str, int] | None = None

    def check_parts(self) -> None:
        """StackcostError that names the part that has ended or is stopped.

        The parts are the generators, their clients and the server.
        """
        self.generator.check()
        ServerSession.check_parts(self)  # a class with slots has no zero-argument super()

    def begin_trial(self) -> None:
        """From now on samples, and what the network does, belong to the next trial."""
        ServerSession.begin_trial(self)
        if self._network != NetworkSettings():
            self._network_before = self.generator.network_counts()

    @property
    def _network(self) -> NetworkSettings:
        return self.experiment.network

    def tunables(self) -> dict[str, Any]:
        """Arguments of the suite's HTTP profiles."""
        version = self.serving.ip_version
        return tunables_of(self.experiment.workload, self.response_bytes, version)

    def load_profile(self, profile: ProfileFile, tunables: Mapping[str, Any]) -> None:
        """Load a profile into the generators, with the TLS of the experiment."""
        tls = self.experiment.tls
        self.generator.load_profile(profile, tunables, tls=tls.parameters() if tls else None)

    def tls_counts(self) -> TlsCounts | None:
        """What the clients counted of TLS in this trial so far; None without TLS."""
        asked = self.experiment.tls
        if asked is None:
            return None
        return TlsCounts.of(asked, self.generator.call(TLS_METHOD, {"profile_id": ONLY}))

    def end_traffic(self, timeout_s: float) -> int:
        """Wait until all flows have ended; abort and count those that have not ended in time.

        An overloaded server leaves some flows unfinished; that is a result and not an error.
        """
        if wait_until(lambda: not self.generator.is_traffic_active(), timeout_s, POLL_S):
            return 0
        open_flows = int(self.generator.stats()["traffic"]["client"].get("m_active_flows", 0))
        self.generator.stop()
        return open_flows

    def describe(self) -> dict[str, Any]:
        """The set-up, for the manifest."""
        described, generator = ServerSession.describe(self), self.generator.describe()
        if "test_bed" in generator:
            described["test_bed"] = _joined(described["test_bed"], generator["test_bed"])
        return described | {"generator": generator["generator"]}

    def read_generator(self, traffic: ProfileTraffic) -> None:
        """Fill in the generator's counters of this trial, and how it kept its schedule."""
        traffic.client = _numbers(self.generator.stats()["traffic"]["client"])
        if self.generator.supports(SCHEDULE_METHOD):
            told = self.generator.call(SCHEDULE_METHOD, {"profile_id": ONLY})
            traffic.schedule = Schedule(**told)
        traffic.tls = self.tls_counts()
        if traffic.tls and traffic.tls.asked.key_log:
            keep_tls_keys(self.generator.call, self.folder)
        traffic.generators = self.generator.shares()
        if (before := self._network_before) is not None:
            after = self.generator.network_counts()
            traffic.network = NetworkCounts.between(self._network, before, after)


@contextmanager
def open_profile_session(
    kind: type[Server],
    experiment: Experiment,
    folder: Path,
    progress: Progress,
    detail: Detail = Detail.SOFTIRQS,
) -> Iterator[ProfileSession]:
    """Start test bed, server and generator, and probe the response; stop everything on exit.

    `folder` takes the configuration and logs of the server and the generator.
    `detail`: how detailed CPU time is measured.
    """
    with server_and_generator(kind, experiment, folder, progress) as (serving, generator):
        request, workload = serving.probe_request(), experiment.workload
        length = (
            serving.response_length()
            if request is None
            else generator.ask_server(
                serving.name,
                str(workload.server),
                workload.port,
                request,
                tls=experiment.tls is not None,
            )
        )
        progress.say(f"server is healthy, response of {length:,} bytes; starting the generator")
        generator.begin()
        generator.steer()
        if asked := experiment.network.parameters():
            generator.set_network(asked)
        latency = Latency(generator)
        collectors = [
            Engine("generator", generator, tls=experiment.tls is not None),
            engine_time("generator", generator, generator.data_cpus()),
            latency,
        ]
        with serving.sampling(collectors, detail) as sampler:
            yield ProfileSession(
                experiment=experiment,
                serving=serving,
                generator=generator,
                latency=latency,
                sampler=sampler,
                progress=progress,
                response_bytes=length,
                folder=folder,
            )


def _numbers(counters: Mapping[str, Any]) -> dict[str, float]:
    return {name: n for name, n in counters.items() if isinstance(n, int | float)}


def _joined(there: Mapping[str, Any], here: Mapping[str, Any]) -> dict[str, Any]:
    """The descriptions of the two sides of a bed as one, for the manifest.

    `here`: of the load's side. Hugepages are those of the generator's host.
    """
    steering, not_undone = "receive_steering", "not_undone"
    return {
        **there,
        **{key: here[key] for key in ("generators",) if key in here},
        "hosts": there.get("hosts", {}) | here.get("hosts", {}),
        "cpus": {"load": here["cpus"]["load"], "server": there["cpus"]["server"]},
        "hugepages": here["hugepages"],
        "interfaces": {"load": here["interfaces"], "server": there["interfaces"]},
        "offloads": here["offloads"] | there["offloads"],
        steering: [*here[steering], *there[steering]],
        not_undone: [*here[not_undone], *there[not_undone]],
    }
