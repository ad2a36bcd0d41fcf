"""One server on a fresh test bed, and everything read meanwhile; what loads it comes on top."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stackcost.bed import hugepages, network
from stackcost.bed.local import LocalTestbed
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.sample import Sample
from stackcost.contracts.server import Server
from stackcost.contracts.stack import When
from stackcost.experiment.schema import Experiment
from stackcost.host.timeouts import timeout_factor
from stackcost.remote.stub import RemoteStub
from stackcost.session.generators import gateways_of
from stackcost.session.progress import Progress
from stackcost.session.server_settings import server_settings
from stackcost.sides.plans import ServerPlan
from stackcost.sides.sampling import Sampling
from stackcost.sides.server import RunningServer, local_server

ENDING_SHARE = 0.3  # of the warm-up


@dataclass(slots=True, kw_only=True)
class ServerSession:
    """What trials are run on.

    `serving`: the server and everything next to it.
    `folder`: logs of all programs. `response_bytes`: as probed from the server; None where clients
    ask for several.
    """

    experiment: Experiment
    serving: RunningServer
    sampler: Sampling
    progress: Progress
    folder: Path
    response_bytes: int | None = None
    _mark: int = 0

    @property
    def local_server(self) -> RunningServer:
        """The server, for what works only where this process has started it."""
        if isinstance(self.serving, RemoteStub):
            raise StackcostError(
                "this measurement needs the server on this machine",
                "leave out the section bed of the experiment",
            )
        return self.serving

    @property
    def bed(self) -> LocalTestbed:
        """The test bed, for what works only on that of one machine."""
        return self.local_server.bed

    def check_parts(self) -> None:
        """StackcostError that names the part that has ended or is stopped."""
        self.serving.check()

    def check_stack(self, when: When) -> None:
        """Record which stack carries the connections now; call it in the order of `When`."""
        self.serving.check_stack(when)

    def begin_trial(self) -> None:
        """From now on samples belong to the next trial."""
        self._mark = len(self.sampler.samples)

    def trial_samples(self) -> list[Sample]:
        """Everything read since `begin_trial`, in order of time: another host's samples may come
        later than the edges that were read after them.
        """
        return sorted(self.sampler.samples[self._mark :], key=lambda sample: sample.time)

    def read_edge(self) -> float:
        """Read everything now; returns the CLOCK_MONOTONIC second of the first value.

        That is the machine's CPU time. The others follow, on a busy machine for up to a second. So
        a window from one edge to another lies between readings of every counter, and each growth
        in it is known however long a reading takes. Values of the past, with which the series of a
        new stack begins, are no edge.
        """
        asked = time.monotonic()
        read = (sample.time for sample in self.sampler.read_now())
        return min((moment for moment in read if moment >= asked), default=asked)

    def warm_up(self, end: float) -> None:
        """Let the load go on to this CLOCK_MONOTONIC second, while user and system time are traced.

        That slows the server, so it is done here and not in the sustain window. To end it takes
        time, too, so it ends before the warm-up does.
        """
        stop = end - ENDING_SHARE * (end - time.monotonic())
        self.sampler.in_phase("warm-up", True)
        try:
            time.sleep(max(0.0, stop - time.monotonic()))
        finally:
            self.sampler.in_phase("warm-up", False)
        time.sleep(max(0.0, end - time.monotonic()))

    def describe(self) -> dict[str, Any]:
        """What it runs on, for the manifest."""
        return self.serving.describe()


@contextmanager
def running_server(
    kind: type[Server],
    experiment: Experiment,
    folder: Path,
    progress: Progress,
    wanted_hugepages: int = hugepages.USUAL_COUNT,
) -> Iterator[RunningServer]:
    """Test bed up, tier set, stack ready, server up and healthy; all undone on exit.

    `folder` takes the configuration and logs of the server.
    """
    with timeout_factor(experiment.timeout_factor):  # TrexClient tells what the load will ask
        plan = server_plan(kind, experiment, wanted_hugepages)
    with local_server(kind, plan, folder, progress.say) as side:
        yield side


def server_plan(
    kind: type[Server],
    experiment: Experiment,
    wanted_hugepages: int = hugepages.USUAL_COUNT,
    interfaces: tuple[str, ...] = (),
) -> ServerPlan:
    """What an experiment wants of a server of this kind, and of its bed.

    `interfaces`: of its host, if the load is on another one.
    """
    cores, workload = experiment.cores, experiment.workload
    return ServerPlan(
        settings=server_settings(experiment, kind),
        stack=experiment.server.stack,
        load_cpus=tuple(cores.load),
        server_cpus=tuple(cores.server),
        may_share=cores.shared,
        address=str(workload.server),
        port=workload.port,
        client_network=str(workload.client_network),
        initial_window=network.INITIAL_WINDOW[workload.tcp],
        wanted_hugepages=wanted_hugepages,
        timeout_factor=experiment.timeout_factor,
        interfaces=interfaces,
        gateways=gateways_of(experiment),
        collectors=tuple(experiment.collectors),
        sample_stacks=experiment.sample_stacks,
    )
