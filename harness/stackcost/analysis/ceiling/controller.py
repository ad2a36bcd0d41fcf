"""Finds a ceiling with MLRsearch: which load to try next, and when enough is known.

After it, the ends of the interval are tried again, so that it is what repeated trials confirm.

Nothing here offers load: trials come from a function, so the same search runs over a test bed, over
a simulated system, and over the trials of a stored run.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import isclose
from typing import TYPE_CHECKING, NamedTuple

from stackcost.analysis.ceiling.interval import Interval, Tried, interval_of
from stackcost.analysis.ceiling.ramp import rising
from stackcost.analysis.ceiling.settings import Goal, SearchSettings

if TYPE_CHECKING:  # to import it takes longer than all else that a run without a search imports
    from MLRsearch import MultipleLossRatioSearch, SearchGoal
    from MLRsearch.trial_measurement import MeasurementResult

HOPELESS = 0.1  # loss ratio from which on the doubling has gone far enough
NEVER_S = 1e9


@dataclass(frozen=True, slots=True)
class TrialLoss:
    """The result of a trial for the search: the intended load, and the lost part of it.

    `disturbed`: something was lost while the generator or the machine was disturbed, so it may not
    be the server's loss.
    """

    intended: int
    lost: int
    disturbed: bool = False

    @property
    def loss_ratio(self) -> float:
        """The lost share of the intended load; 0 if that was nothing."""
        return self.lost / self.intended if self.intended else 0.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of one goal.

    `lower`: a load that meets the goal. `upper`: a higher load that does not. None if no trial has
    shown one. `throughput`: MLRsearch's conditional throughput, the part of `lower` that is not
    lost; it is the rate to quote. `interval`: of the goal's ceiling, with these three in it; None
    without `lower` or `upper`, or if every trial that lost too much was disturbed.
    """

    lower: float | None = None
    upper: float | None = None
    throughput: float | None = None
    interval: Interval | None = None


@dataclass(slots=True)
class SearchResult:
    """Bounds by goal. `complete`: the search was not cut short and all bounds are narrow enough."""

    bounds: dict[Goal, Bounds] = field(default_factory=dict)
    complete: bool = False


class OutOfTrials(Exception):
    """Raised by a trial function without further trials; the search ends with its bounds so far."""


Measure = Callable[[float, float], TrialLoss]
"""Load, duration in seconds: one trial."""


def search(settings: SearchSettings, measure: Measure) -> SearchResult:
    """Double the load until its loss is very high, then let MLRsearch find the bounds below.

    It is deterministic: the same results of trials lead to the same loads. If `measure` raises
    OutOfTrials, the bounds found until then are the result.
    """
    outcome = SearchResult({goal: Bounds() for goal in settings.goals})
    finder = None
    trials: list[_Seen] = []

    def seen(load: float, duration: float) -> TrialLoss:
        trials.append(_Seen(load, duration, measure(load, duration)))
        return trials[-1].loss

    try:
        highest = _double(settings, seen)
        finder = _finder(settings, highest)
        finder.search(_Measurer(seen), debug=lambda _: None)
        _confirm(settings, seen, trials)
        outcome.complete = True
    except OutOfTrials:
        pass
    if finder is not None:
        outcome.bounds = {goal: _bounds(finder, goal, settings, trials) for goal in settings.goals}
    return outcome


def _no_further(load: float, duration: float) -> TrialLoss:
    raise OutOfTrials


def replayed(
    settings: SearchSettings,
    known: Iterable[tuple[float, TrialLoss]],
    then: Measure = _no_further,
) -> SearchResult:
    """The search once more, with the load and the loss of each trial so far, in order.

    MLRsearch calls a function for each trial and does not return in between. So a search is
    replayed from its beginning whenever something is asked of it, which takes milliseconds. `then`
    makes the trials after the known ones. It ends where a trial was not at the load that is asked.
    """
    left = iter(known)

    def measure(load: float, duration: float) -> TrialLoss:
        tried = next(left, None)
        if tried is None:
            return then(load, duration)
        if not isclose(tried[0], load):
            raise OutOfTrials
        return tried[1]

    return search(settings, measure)


class _Seen(NamedTuple):
    load: float
    duration: float
    loss: TrialLoss


def _interval(settings: SearchSettings, goal: Goal, trials: Sequence[_Seen]) -> Interval | None:
    """From the trials as long as the last ones: what is held for a second may not be held for long.

    Losses of disturbed trials say nothing of the server.
    """
    return interval_of(
        [
            Tried(load, loss.loss_ratio <= goal.loss_ratio)
            for load, duration, loss in trials
            if duration == settings.final_trial_duration and not loss.disturbed
        ]
    )


def _confirm(settings: SearchSettings, measure: Measure, trials: Sequence[_Seen]) -> None:
    """Try the lowest and the highest end of the intervals again; each trial may move them."""
    strictest, loosest = settings.goals[0], settings.goals[-1]
    for _ in range(settings.confirmations):
        for goal, end in ((strictest, "low"), (loosest, "high")):
            if found := _interval(settings, goal, trials):
                load = min(getattr(found, end), settings.most_load)
                measure(load, settings.final_trial_duration)


def _double(settings: SearchSettings, measure: Measure) -> float:
    """Double the load until it loses 10 % or more, or is the highest allowed load."""
    for load in rising(settings.first_load, 2.0, settings.most_load):
        if measure(load, settings.initial_trial_duration).loss_ratio >= HOPELESS:
            break
    return load


def _finder(settings: SearchSettings, highest: float) -> "MultipleLossRatioSearch":
    from MLRsearch import Config, MultipleLossRatioSearch

    config = Config()
    config.min_load = min(1.0, highest / 2)
    config.max_load = highest
    config.goals = [_search_goal(goal, settings) for goal in settings.goals]
    config.warmup_duration = None  # the doubling has warmed up
    config.search_duration_max = NEVER_S  # time is the trials'
    return MultipleLossRatioSearch(config)


def _search_goal(goal: Goal, settings: SearchSettings) -> "SearchGoal":
    from MLRsearch import SearchGoal

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


def _bounds(
    finder: "MultipleLossRatioSearch", goal: Goal, settings: SearchSettings, trials: Sequence[_Seen]
) -> Bounds:
    """The relevant bounds of a goal, also of a search that was cut short."""
    from MLRsearch.goal_result import GoalResult

    if finder.scaling is None:
        return Bounds()
    target = finder.scaling.goal_to_final_target[_search_goal(goal, settings)]
    result = GoalResult.from_bounds(finder.database.get_relevant_bounds(target=target))
    lower, upper, throughput = (
        None if found is None else float(found)
        for found in (
            result.relevant_lower_bound,
            result.relevant_upper_bound,
            result.conditional_throughput,
        )
    )
    found = _interval(settings, goal, trials)
    if lower is None or upper is None or throughput is None or found is None:
        return Bounds(lower, upper, throughput)
    low, high = min(found.low, lower, throughput), max(found.high, upper)
    return Bounds(lower, upper, throughput, Interval(low, high))


class _Measurer:
    """Adapts a trial function to MLRsearch, as its AbstractMeasurer is called."""

    def __init__(self, measure: Measure):
        self._measure = measure

    def measure(self, intended_duration: float, intended_load: float) -> "MeasurementResult":
        """One trial; connections that the generator did not send count as lost."""
        from MLRsearch.trial_measurement import MeasurementResult

        counted = self._measure(intended_load, intended_duration)
        return MeasurementResult(
            intended_duration=intended_duration,
            intended_load=intended_load,
            offered_count=counted.intended,
            loss_count=counted.lost,
        )
