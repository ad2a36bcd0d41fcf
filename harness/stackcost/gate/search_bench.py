"""A bench whose trials are searches: each finds the ceiling once more, on a new test bed.

The search is that of `stackcost ceiling --quick`, for the highest load with at most 0.5 % lost.
"""

from collections.abc import Mapping
from functools import partial

from stackcost.analysis.ceiling.settings import Goal, settings_for
from stackcost.analysis.ceiling.stored import SearchKey
from stackcost.campaign.campaign import Campaign
from stackcost.campaign.turn import PlannedTrials
from stackcost.contracts.errors import StackcostError
from stackcost.experiment.matrix import Variant
from stackcost.gate.bench import LocalBench
from stackcost.gate.trial import GateTrial
from stackcost.loads.search import Steps
from stackcost.search.expected import seconds_left
from stackcost.search.feeder import CeilingPlan
from stackcost.search.steps import DETAIL, search_steps
from stackcost.session.profile_session import ProfileSession, open_profile_session

# One lost connection decides a no drop rate; on a shared machine that is chance.
GOAL = Goal(name="PDR", loss_ratio=0.005)
SEARCH = settings_for("connections", quick=True).model_copy(update={"goals": (GOAL,)})
UNSURE = "all losses are of disturbed trials, or of a generator at its limit"


def plan_of(target: Variant) -> CeilingPlan:
    """The searches as a plan of ceilings, so that `stackcost show` tells them as ceilings."""
    return CeilingPlan((target,), {"connections": SEARCH}, 1, None)


class SearchBench(LocalBench):
    """Searches on the test bed of this machine; all their trials are stored."""

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
