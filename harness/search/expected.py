"""How long a search will still take: the search itself, over the trials so far and a guess."""

from collections.abc import Callable, Sequence

from stackcost.analysis.ceiling.controller import TrialLoss, search
from stackcost.analysis.ceiling.settings import SearchSettings

FIRST_GUESS = 10.0  # times the first load, before any trial has lost something

Seconds = Callable[[float, float], float]
"""Load, duration: how long such a trial takes in all."""


def seconds_left(
    settings: SearchSettings, so_far: Sequence[tuple[float, TrialLoss]], seconds_of: Seconds
) -> float:
    """Seconds of the trials still to come, if the system goes on as its trials so far suggest.

    `so_far`: load and loss of each trial in order.
    """
    ceiling = _guess(settings, so_far)
    known = iter(so_far)
    left = 0.0

    def measure(load: float, duration: float) -> TrialLoss:
        nonlocal left
        trial = next(known, None)
        if trial is not None:
            return trial[1]
        left += seconds_of(load, duration)
        intended = max(1, round(load * duration))
        return TrialLoss(intended, max(0, round(intended * (1 - ceiling / load))))

    search(settings, measure)
    return left


def _guess(settings: SearchSettings, so_far: Sequence[tuple[float, TrialLoss]]) -> float:
    """What got through of the lowest load that lost something; else above all that did not."""
    lossy = [(load, result) for load, result in so_far if result.lost]
    if lossy:
        load, result = min(lossy, key=lambda trial: trial[0])
        return load * (1 - result.loss_ratio)
    highest = max((load for load, _ in so_far), default=settings.first_load)
    return min(FIRST_GUESS * settings.first_load + highest, settings.most_load)
