"""Whether a system stopped passing anything during a search: that is a fault, and no ceiling."""

from collections.abc import Sequence

from stackcost.analysis.ceiling.controller import HOPELESS, TrialLoss

# Trials in a row without anything that passed, one of them at a load that was held before. After
# fewer of them a device may still recover from the overload of a trial before.
ENOUGH = 3


def first_without_any(tried: Sequence[tuple[float, TrialLoss]]) -> int | None:
    """The place of the first trial from which on nothing passed; None while that is not certain.

    `tried`: load and loss of each trial of a search in order.
    """
    first = len(tried)
    while first and _lost_all(tried[first - 1][1]):
        first -= 1
    most = max((load for load, loss in tried[:first] if loss.loss_ratio < HOPELESS), default=0.0)
    dead = [load for load, _ in tried[first:]]
    return first if len(dead) >= ENOUGH and min(dead) <= most else None


def _lost_all(loss: TrialLoss) -> bool:
    return loss.lost >= loss.intended > 0
