"""What the gate measures: a system of an experiment file, on this machine."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from stackcost.analysis.ceiling.settings import Goal, settings_for
from stackcost.analysis.ceiling.stored import SearchKey
from stackcost.collect.machine import describe_machine
from stackcost.contracts.errors import StackcostError
from stackcost.experiment.matrix import Variant, variants
from stackcost.experiment.read_file import read_experiment
from stackcost.gate.bench import Bench, LocalBench, open_bench
from stackcost.gate.figure import CEILING, Figure
from stackcost.gate.trial import GateTrial
from stackcost.runs.campaign import Campaign
from stackcost.runs.loads.search import Steps
from stackcost.runs.search import DETAIL, CeilingPlan, search_steps, seconds_left
from stackcost.runs.turn import PlannedTrials
from stackcost.session.profile_session import ProfileSession, open_profile_session

# One lost connection decides a no drop rate; on a shared machine that is chance.
GOAL = Goal(name="PDR", loss_ratio=0.005)
SEARCH = settings_for("connections", quick=True).model_copy(update={"goals": (GOAL,)})
UNSURE = "all losses are of disturbed trials, or of a generator at its limit"


def plan_of(target: Variant) -> CeilingPlan:
    """The searches as a plan of ceilings, so that `stackcost show` tells them as ceilings."""
    return CeilingPlan((target,), {"connections": SEARCH}, 1, None)


class SearchBench(LocalBench):
    """Searches on the test bed of this machine; all their trials are stored.

    The search is that of `stackcost ceiling --quick`, for the highest load with at most 0.5 % lost.
    """

    def __init__(self, target: Variant, campaign: Campaign):
        super().__init__(target, campaign, partial(open_profile_session, detail=DETAIL))
        self._searches = 0

    def steady_load(self) -> float:
        """The load at which a search begins."""
        return SEARCH.first_load

    def measure(self, offered_cps: float) -> GateTrial:
        """Find the ceiling on a new test bed. Every search begins at the same load, `offered_cps`.

        StackcostError if no load is held.
        """
        assert offered_cps == SEARCH.first_load, "the manifest has the settings of all searches"
        self._searches += 1
        key = SearchKey(self._target.name, "connections", self._searches)

        def steps(session: ProfileSession) -> PlannedTrials[GateTrial]:
            searched = yield from search_steps(session, key, SEARCH)
            found = searched.outcome.bounds[GOAL]
            if searched.stopped:
                raise StackcostError("the system stopped passing connections during the search")
            if found.throughput is None:
                raise StackcostError("no load was held with at most 0.5 % lost")
            return GateTrial.of_search(found.throughput, "" if found.interval else UNSURE)

        seconds = seconds_left(SEARCH, (), Steps("connections").trial_s)
        return self._take(f"search {self._searches}", steps, seconds)

    def set_aside(self, reasons: Mapping[int, str]) -> None:
        """Nothing: the answer about a search says what disturbed it."""


def target_of(path: Path, system: str = "") -> Variant:
    """The system with this name, or the only system; otherwise StackcostError with all names."""
    found = variants(read_experiment(path))
    names = ", ".join(each.name for each in found)
    wanted = [each for each in found if system in ("", each.name)]
    if len(wanted) != 1:
        what = f"has no system {system!r}" if system else f"has {len(found)} systems"
        raise StackcostError(
            f"{path} {what}", f'name one of them: cps_ceiling(file, system="..."): {names}'
        )
    if wanted[0].lacking:
        raise StackcostError(
            f"{wanted[0].name} cannot be measured on this machine: {wanted[0].lacking}"
        )
    return wanted[0]


class ThisMachine:
    """This machine. `results`: the folder for the runs; `command`: recorded in their manifests."""

    def __init__(self, results: Path, command: list[str]):
        self._results = results
        self._command = command

    def describe(self) -> dict[str, Any]:
        """The machine as it was at the first call."""
        return self._machine

    def open(self, target: Variant, figure: Figure) -> AbstractContextManager[Bench]:
        """Open a bench that measures the figure; StackcostError without root."""
        if figure == CEILING:
            planned = plan_of(target).describe()
            return open_bench(target, self._results, self._command, SearchBench, planned)
        planned = target.experiment.model_dump(mode="json") | {"gate": figure}
        return open_bench(target, self._results, self._command, LocalBench, planned)

    @cached_property
    def _machine(self) -> dict[str, Any]:
        return describe_machine()
