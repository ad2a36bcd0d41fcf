"""Estimates the remaining time of a search: it simulates the search with a guessed ceiling."""

from collections.abc import Callable, Sequence

from stackcost.analysis.ceiling.controller import TrialLoss, replayed
from stackcost.analysis.ceiling.settings import SearchSettings

FIRST_GUESS = 10.0  # times the first load; used before any trial has lost something

Seconds = Callable[[float, float], float]
"""Load, duration: the total time of such a trial."""


def seconds_left(
    settings: SearchSettings, so_far: Sequence[tuple[float, TrialLoss]], seconds_of: Seconds
) -> float:
    """Estimated seconds of the remaining trials, from the trials so far.

    `so_far`: load and loss of each trial in order.
    """
    ceiling = _guess(settings, so_far)
    left = 0.0

    def guessed(load: float, duration: float) -> TrialLoss:
        nonlocal left
        left += seconds_of(load, duration)
        intended = max(1, round(load * duration))
        return TrialLoss(intended, max(0, round(intended * (1 - ceiling / load))))

    replayed(settings, so_far, guessed)
    return left


def _guess(settings: SearchSettings, so_far: Sequence[tuple[float, TrialLoss]]) -> float:
    """A guess of the ceiling: the completed part of the lowest load with loss, or a higher load."""
    lossy = [(load, result) for load, result in so_far if result.lost]
    if lossy:
        load, result = min(lossy, key=lambda trial: trial[0])
        return load * (1 - result.loss_ratio)
    highest = max((load for load, _ in so_far), default=settings.first_load)
    return min(FIRST_GUESS * settings.first_load + highest, settings.most_load)
