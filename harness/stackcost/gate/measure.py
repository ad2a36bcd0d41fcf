"""What gives a gate its trials: a system of an experiment's file, on this machine."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from io import StringIO
from pathlib import Path
from typing import Any

from rich.console import Console
from typing_extensions import override

from stackcost.analysis.ceiling.settings import Goal, settings_for
from stackcost.analysis.ceiling.stored import SearchKey
from stackcost.analysis.readings import Readings
from stackcost.collect.machine import describe_machine
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.load import ConstantLoad, CountedLoad
from stackcost.contracts.trial import Trial
from stackcost.counting.programs import check_programs
from stackcost.counting.session import open_counting_session
from stackcost.experiment.matrix import Variant, variants
from stackcost.experiment.read_file import read_experiment
from stackcost.gate.figure import CEILING, COST, WHOLE_CORES, Judged
from stackcost.gate.trial import GateTrial, comparable, gate_trial
from stackcost.report.results.stored import context_of
from stackcost.runs.campaign import Campaign
from stackcost.runs.identity import profile_hashes
from stackcost.runs.loads.constant import Constant
from stackcost.runs.loads.counted import CountedConnections
from stackcost.runs.loads.kind import LoadKind
from stackcost.runs.loads.search import Steps
from stackcost.runs.record import new_campaign
from stackcost.runs.search import DETAIL, CeilingPlan, search_steps, seconds_left
from stackcost.runs.slowest import expected_seconds, loads_found
from stackcost.runs.turn import Feed, OpenSession, PlannedTrials, Purpose, Result, Turn
from stackcost.session.profile_session import SETUP_S, ProfileSession, open_profile_session
from stackcost.session.server_session import ServerSession
from stackcost.store.manifest import LoadsFound

SUSTAIN_S = 5.0
# The warm-up is above the client's TIME_WAIT.
TIMES = {"warm_up_s": 1.0, "sustain_s": SUSTAIN_S, "drain_s": 0.6}
LONGEST_SUSTAIN_S = 20.0
WANTED_S = 2.0  # seconds of a trial in which nothing slows the cores
RECENT = 4  # number of trials from which the length of the next one is estimated
# Share of the ceiling. At this load the server keeps up even while another virtual machine on the
# host slows its cores by a half, and it spends no work on retransmitted connections.
LOAD = 0.55
JUDGED = Purpose(decides=True)
# One lost connection decides a no drop rate; on a shared machine that is chance.
GOAL = Goal(name="PDR", loss_ratio=0.005)
SEARCH = settings_for("connections", quick=True).model_copy(update={"goals": (GOAL,)})
UNSURE = "all losses are of disturbed trials, or of a generator at its limit"
LINE_WIDTH = 200  # characters of a line of progress: none is folded


class GateRun(ABC):
    """Trials of one system on this machine, each on a new test bed; all are stored. `load`: in
    every trial, connections/s.
    """

    open: OpenSession[Any] = staticmethod(open_profile_session)

    def __init__(self, target: Variant, campaign: Campaign, load: float | None):
        self._target, self._campaign = target, campaign
        self._found: list[GateTrial] = []
        self._lengths: list[float] = []
        self.folder = campaign.folder
        self.load = self.first_load() if load is None else load

    @abstractmethod
    def first_load(self) -> float:
        """The load that a baseline begins with, connections/s."""

    @abstractmethod
    def measure(self) -> GateTrial:
        """Make one trial."""

    def _offered(self, kind: LoadKind[Any, Any], load: ConstantLoad | CountedLoad) -> GateTrial:
        """The trial of a load on a new test bed."""
        name, number = self._target.name, len(self._found) + 1

        def steps(session: ServerSession) -> PlannedTrials[Trial]:
            kind.prepare(session)
            trial = Trial(name, 0, number, load, session.response_bytes)
            (made,) = yield kind.planned(session, trial, load, JUDGED)
            return made

        made = self._take(f"round {number}", steps, kind.seconds(load))
        context = context_of(self._campaign.manifest, [self._target.system])
        cores = self._target.experiment.cores.server
        self._found.append(gate_trial(Readings(made, cores), context))
        return self._found[-1]

    def _take(
        self, what: str, steps: Callable[[Any], PlannedTrials[Result]], seconds: float
    ) -> Result:
        """Run a turn of the system and return its result. `seconds`: duration of its trials."""
        turn = Turn(
            system=self._target.name,
            kind=self._target.kind,
            experiment=self._target.experiment,
            where=f"{self._target.name}, {what}",
            logs=f"{what}-{self._target.name}",
            steps=steps,
            open=self.open,
        )
        self._campaign.expect([SETUP_S + seconds])
        return self._campaign.take(turn)


class Timed(GateRun):
    """Trials at one load, for the rate for whole cores."""

    @override
    def first_load(self) -> float:
        """A share of the ceiling, found as the loads of an experiment with `offered_shares`."""
        experiment, found = self._target.experiment, list[LoadsFound]()

        def feed() -> Feed[None]:
            found.append((yield from loads_found(experiment, [self._target])))

        self._campaign.expect(expected_seconds([self._target]))
        self._campaign.run(feed())
        self._campaign.note_loads(found[0])
        return found[0].offered_cps[0]

    @override
    def measure(self) -> GateTrial:
        self._lengths.append(next_sustain(self._found, self._lengths))
        long = _with_load(self._target, sustain_s=self._lengths[-1])
        return self._offered(Constant(long.experiment), ConstantLoad(offered_cps=self.load))


def _with_load(target: Variant, **settings: object) -> Variant:
    load = target.experiment.load.model_copy(update=settings)
    return replace(target, experiment=target.experiment.model_copy(update={"load": load}))


def next_sustain(found: Sequence[GateTrial], lengths: Sequence[float]) -> float:
    """Length of the next trial, in seconds, so that `WANTED_S` of it will be undisturbed.

    It is estimated from the latest trials, whose lengths are `lengths`. On a busy host a short
    trial is often useless, and more trials, each on a new test bed, would take longer.
    """
    recent = found[-RECENT:]
    if not any("undisturbed" in trial.figures for trial in recent):
        return SUSTAIN_S  # they cannot be cut into slices
    free = sum(trial.figures.get("undisturbed", 0.0) for trial in comparable(recent, found))
    longest = LONGEST_SUSTAIN_S / WANTED_S
    needed = WANTED_S * min(longest, sum(lengths[-RECENT:]) / free if free else longest)
    return max(SUSTAIN_S, needed)


class Searches(GateRun):
    """Searches, for the ceiling.

    The search is that of `stackcost ceiling --quick`, for the highest load with at most 0.5 % lost.
    """

    open = staticmethod(partial(open_profile_session, detail=DETAIL))

    @override
    def first_load(self) -> float:
        """The load at which every search begins; the manifest has the settings of all."""
        return SEARCH.first_load

    @override
    def measure(self) -> GateTrial:
        """StackcostError if no load is held. What disturbed a search, its answer says."""
        key = SearchKey(self._target.name, "connections", len(self._found) + 1)

        def steps(session: ProfileSession) -> PlannedTrials[GateTrial]:
            searched = yield from search_steps(session, key, SEARCH)
            found = searched.outcome.bounds[GOAL]
            if searched.stopped:
                raise StackcostError("the system stopped passing connections during the search")
            if found.throughput is None:
                raise StackcostError("no load was held with at most 0.5 % lost")
            figures = {CEILING.name: found.throughput}
            return GateTrial(figures=figures, disturbed="" if found.interval else UNSURE)

        seconds = seconds_left(SEARCH, (), Steps("connections").trial_s)
        self._found.append(self._take(f"search {key.round}", steps, seconds))
        return self._found[-1]


class Counts(GateRun):
    """Trials in the guest that counts, for the cost in instructions."""

    open = staticmethod(open_counting_session)

    @override
    def first_load(self) -> float:
        """That of the experiment's section `counted`."""
        return self._kind.loads(self._target)[0].offered_cps

    @override
    def measure(self) -> GateTrial:
        return self._offered(self._kind, self._kind.loads(self._target)[0])

    @property
    def _kind(self) -> CountedConnections:
        return CountedConnections(self._target.experiment)


RUNS: dict[str, type[GateRun]] = {
    WHOLE_CORES.title: Timed,
    CEILING.title: Searches,
    COST.title: Counts,
}


def target_of(path: Path, system: str = "", counted: bool = False) -> Variant:
    """The system with this name, or the only system; otherwise StackcostError with all names.

    `counted`: to be counted, and not timed.
    """
    plan = read_experiment(path)
    found = variants(plan.as_counted() if counted else plan)
    wanted = [each for each in found if system in ("", each.name)]
    if len(wanted) != 1:
        what = f"has no system {system!r}" if system else f"has {len(found)} systems"
        names = ", ".join(each.name for each in found)
        raise StackcostError(f"{path} {what}: {names}", 'name one of them: system="..."')
    if wanted[0].lacking:
        raise StackcostError(
            f"{wanted[0].name} cannot be measured on this machine: {wanted[0].lacking}"
        )
    return wanted[0]


class ThisMachine:
    """This machine. `results`: the folder for the runs; `command`: recorded in their manifests."""

    def __init__(self, results: Path, command: list[str]):
        self._results, self._command = results, command

    def describe(self) -> dict[str, Any]:
        """The machine as it was at the first call."""
        return self._machine

    @contextmanager
    def open(
        self,
        target: Variant,
        figure: Judged,
        load: float | None = None,
        say: Callable[[str], None] = lambda line: None,
    ) -> Iterator[GateRun]:
        """A run of trials for a figure. `load`: None for the one that it finds. `say`: gets the
        lines of progress of a count, one of which takes minutes.

        The caller holds the `RunLock` if the test bed is here. StackcostError without root, which
        counting does not need.
        """
        experiment = target.experiment
        planned: dict[str, Any] = experiment.model_dump(mode="json")
        if figure == WHOLE_CORES:
            planned["gate"] = figure.title
            target = _with_load(target, offered_cps=[], offered_shares=[LOAD], **TIMES)
        if figure == CEILING:
            planned = CeilingPlan((target,), {"connections": SEARCH}, 1).describe()
        console = Console(stderr=True)
        if figure.counted:
            console = Console(file=Lines(say), width=LINE_WIDTH)
            check_programs(partial(console.print, markup=False))
        with new_campaign(
            self._results,
            "gate",
            self._command,
            console,
            "to see them, run: stackcost show",
            here=experiment.uses_this_machine,
            needs_root=not figure.counted,
            kind="ceilings" if figure == CEILING else "costs",
            experiment=planned,
            systems=[target.system],
            profile_hashes=profile_hashes(experiment),
        ) as campaign:
            yield RUNS[figure.title](target, campaign, load)
        if campaign.manifest.state == "interrupted":
            raise KeyboardInterrupt  # the run has recorded it; pytest needs it, too

    @cached_property
    def _machine(self) -> dict[str, Any]:
        return describe_machine()


class Lines(StringIO):
    """A file whose whole lines go to `say`."""

    def __init__(self, say: Callable[[str], None]):
        super().__init__()
        self._say, self._begun = say, ""

    @override
    def write(self, text: str, /) -> int:
        *whole, self._begun = (self._begun + text).split("\n")
        for line in whole:
            if line.strip():
                self._say(line.rstrip())
        return len(text)
