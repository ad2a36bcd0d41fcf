"""Finds the highest number of open connections at which the latency stays below a limit."""

import math
from collections.abc import Callable

from stackcost.analysis.ceiling.ramp import rising
from stackcost.campaign.turn import PlannedTrials
from stackcost.experiment.http_schema import Concurrency


def find_concurrency(
    limit: Concurrency, holds: Callable[[int], PlannedTrials[bool]]
) -> PlannedTrials[int]:
    """The highest number of connections for which `holds` returns True; 1 if there is none.

    The number is doubled from the first one while `holds` is true, or else halved until it is.

    `holds`: makes a trial with this number of connections; returns whether its 99th percentile was
    below the limit and no request failed.
    """
    held, failed = 0, 0
    for count in rising(limit.first, 2, limit.most):
        if not (yield from holds(count)):
            failed = count
            break
        held = count
    if not failed:
        return held
    count = failed
    while not held:
        count //= 2
        if count <= 1:
            return 1
        if (yield from holds(count)):
            held = count
        else:
            failed = count
    for _ in range(limit.steps):
        middle = round(math.sqrt(held * failed))
        if middle in (held, failed):
            break
        if (yield from holds(middle)):
            held = middle
        else:
            failed = middle
    return held
