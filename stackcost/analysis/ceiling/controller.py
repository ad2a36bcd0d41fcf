"""Finds a ceiling with MLRsearch: which load to try next, and when enough is known.

Nothing here offers load: trials come from a function, so the same search runs over a test bed, over
a simulated system, and over the trials of a stored run.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from MLRsearch import Config, MultipleLossRatioSearch, SearchGoal
from MLRsearch.trial_measurement import AbstractMeasurer, MeasurementResult

from stackcost.analysis.ceiling.ramp import rising
from stackcost.analysis.ceiling.settings import Goal, SearchSettings

HOPELESS = 0.1  # loss ratio from which on the doubling has gone far enough
NEVER_S = 1e9


@dataclass(frozen=True, slots=True)
class TrialLoss:
    """A trial as the search sees it: what was to be offered, and how much of that was lost."""

    intended: int
    lost: int

    @property
    def loss_ratio(self) -> float:
        """Share of what was to be offered; 0 when nothing was."""
        return self.lost / self.intended if self.intended else 0.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is known of one goal.

    `lower`: a load that meets the goal; `upper`: a load above it that does not. None when no trial
    has shown one. `throughput`: MLRsearch's conditional throughput, the part of `lower` that is not
    lost; it is the rate to quote.
    """

    lower: float | None = None
    upper: float | None = None
    throughput: float | None = None


@dataclass(slots=True)
class SearchResult:
    """Bounds by goal; `complete` when the search ended by itself and every goal is that narrow."""

    bounds: dict[Goal, Bounds] = field(default_factory=dict)
    complete: bool = False


class OutOfTrials(Exception):
    """Raised by a trial function that has no more to give: the search ends with what it has."""


Measure = Callable[[float, float], TrialLoss]
"""Load, duration in seconds: one trial."""


def search(settings: SearchSettings, measure: Measure) -> SearchResult:
    """Double the load until it is hopeless, then let MLRsearch find the bounds below.

    Deterministic: the same results of trials lead to the same loads. When `measure` raises
    OutOfTrials, what is known until then is the outcome.
    """
    outcome = SearchResult({goal: Bounds() for goal in settings.goals})
    finder = None
    try:
        highest = _double(settings, measure)
        finder = _finder(settings, highest)
        finder.search(_Measurer(measure), debug=lambda _: None)
        outcome.complete = True
    except OutOfTrials:
        pass
    if finder is not None:
        outcome.bounds = {goal: _bounds(finder, goal, settings) for goal in settings.goals}
    return outcome


def _double(settings: SearchSettings, measure: Measure) -> float:
    """The first of doubling loads that loses a tenth or more, or the highest allowed."""
    for load in rising(settings.first_load, 2.0, settings.most_load):
        if measure(load, settings.initial_trial_duration).loss_ratio >= HOPELESS:
            break
    return load


def _finder(settings: SearchSettings, highest: float) -> MultipleLossRatioSearch:
    config = Config()
    config.min_load = min(1.0, highest / 2)
    config.max_load = highest
    config.goals = [_search_goal(goal, settings) for goal in settings.goals]
    config.warmup_duration = None  # the doubling has warmed up
    config.search_duration_max = NEVER_S  # time is the trials'
    return MultipleLossRatioSearch(config)


def _search_goal(goal: Goal, settings: SearchSettings) -> SearchGoal:
    one_trial = settings.duration_sum <= settings.initial_trial_duration
    return SearchGoal(
        loss_ratio=goal.loss_ratio,
        exceed_ratio=settings.exceed_ratio,
        relative_width=settings.relative_width,
        initial_trial_duration=settings.initial_trial_duration,
        final_trial_duration=settings.final_trial_duration,
        duration_sum=settings.duration_sum,
        preceding_targets=1 if one_trial else 2,
        fail_fast=False,
    )


def _bounds(finder: MultipleLossRatioSearch, goal: Goal, settings: SearchSettings) -> Bounds:
    """The relevant bounds of a goal, also of a search that was cut short."""
    from MLRsearch.goal_result import GoalResult

    if finder.scaling is None:
        return Bounds()
    target = finder.scaling.goal_to_final_target[_search_goal(goal, settings)]
    result = GoalResult.from_bounds(finder.database.get_relevant_bounds(target=target))
    lower, upper = result.relevant_lower_bound, result.relevant_upper_bound
    throughput = result.conditional_throughput
    return Bounds(
        lower=None if lower is None else float(lower),
        upper=None if upper is None else float(upper),
        throughput=None if throughput is None else float(throughput),
    )


class _Measurer(AbstractMeasurer):  # type: ignore[misc]
    """MLRsearch's side of a trial function."""

    def __init__(self, measure: Measure):
        self._measure = measure

    def measure(self, intended_duration: float, intended_load: float) -> MeasurementResult:
        """One trial; what the generator did not send is in its loss."""
        counted = self._measure(intended_load, intended_duration)
        return MeasurementResult(
            intended_duration=intended_duration,
            intended_load=intended_load,
            offered_count=counted.intended,
            loss_count=counted.lost,
        )
