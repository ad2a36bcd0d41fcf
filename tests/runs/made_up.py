"""A system that is made up, on no test bed, and the trials that it is given."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stackcost.contracts.counts import StackCheck
from stackcost.contracts.load import ConstantLoad, Loss, SearchStep
from stackcost.contracts.trial import Trial
from stackcost.experiment.read_file import read_experiment
from stackcost.experiment.schema import Experiment
from stackcost.runs.turn import FIGURE, PlannedTrial, PlannedTrials, Purpose, Turn
from stackcost.servers.registry import server_class
from stackcost.session.progress import Progress
from tests.analysis.trials import add_other_program, load_trial

NginxKernel = server_class("nginx/kernel")

COMPARE = Path(__file__).resolve().parents[2] / "experiments" / "compare.yaml"
EXPERIMENT = read_experiment(COMPARE, quick=True).offering([1000.0])


@dataclass
class MadeUp:
    """A session and its server. `check`: what is said of each trial."""

    progress: Progress
    log: list[str] = field(default_factory=list)
    check: StackCheck | None = None
    experiment: Experiment = EXPERIMENT

    def __post_init__(self) -> None:
        self.serving = self

    def check_stack(self, when: str) -> None:
        """Nothing carries it."""

    def before_trial(self) -> dict[str, float]:
        return {}

    def clocks(self) -> dict[str, Any]:
        return {}

    def stack_check(self, idle: bool) -> StackCheck | None:
        return self.check

    def check_parts(self) -> None:
        """All of it lives."""

    def describe(self) -> dict[str, Any]:
        return {"test_bed": {"links": 1}, "server": {"version": "1"}, "generator": {"cores": 1}}


def quiet(trial: Trial) -> None:
    """A trial to which nothing happened."""
    _fill(trial, load_trial())


def disturbed(trial: Trial) -> None:
    """Another program had half of the server's core; a search lost something by it."""
    model = load_trial()
    add_other_program(model, 5.0)
    _fill(trial, model)
    if isinstance(trial.load, SearchStep):
        trial.load.loss = Loss(1000, 20, {"not answered in time": 20}, ["other programs"])


def _fill(trial: Trial, model: Trial) -> None:
    trial.samples, trial.phases = model.samples, model.phases
    assert isinstance(model.load, ConstantLoad) and isinstance(trial.traffic, ConstantLoad)
    trial.traffic.client = model.load.client
    trial.traffic.server_requests = model.load.server_requests
    if isinstance(trial.load, SearchStep):
        trial.load.loss = Loss(1000, 0, {})


def planned(make: Callable[[Trial], None], purpose: Purpose = FIGURE) -> PlannedTrial:
    """A trial for a figure, or of a search where something is decided by it."""
    offered = ConstantLoad(offered_cps=1000)
    searched = SearchStep(of="connections", load=1000, duration_s=10, offered=offered)
    load = searched if purpose.decides else offered
    trial = Trial("nginx/kernel", 0, 1, load, 33_000)
    return PlannedTrial(
        trial=trial, make=make, words="1,000 connections/s", purpose=purpose, seconds=12
    )


def turn(steps: Sequence[PlannedTrial], seen: list[list[int]], **session: Any) -> Turn:
    """A turn of these trials; `seen` gets the numbers of each trial and its repeats."""

    def go(session: MadeUp) -> PlannedTrials[int]:
        try:
            for step in steps:
                attempts = yield step
                seen.append([trial.number for trial in attempts])
        finally:
            session.log.append("steps ended")
        return len(steps)

    @contextmanager
    def opened(*place: Any) -> Iterator[MadeUp]:
        made = MadeUp(place[-1], **session)
        try:
            yield made
        finally:
            made.log.append("bed undone")

    return Turn(
        system="nginx/kernel",
        kind=NginxKernel,
        experiment=EXPERIMENT,
        where="round 1 of 1, nginx/kernel",
        logs="1-nginx/kernel",
        steps=go,
        open=opened,
    )
