"""The most connections at once with which a server still answers in time, as publications chose."""

import math
from collections.abc import Callable, Generator
from typing import Any

from stackcost.analysis.ceiling.ramp import rising
from stackcost.harness.experiment.http_schema import Concurrency


def find_concurrency(
    limit: Concurrency, holds: Callable[[int], Generator[Any, Any, bool]]
) -> Generator[Any, Any, int]:
    """The highest count for which `holds` said so; 1 when it never did.

    From the first count on doubled while they hold, else halved until one does.

    `holds`: asks for a trial with so many connections, and says whether its 99th percentile was
    below the limit and nothing failed.
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
