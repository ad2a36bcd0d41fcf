"""The most connections at once with which a server still answers in time, as publications chose."""

import math
from collections.abc import Callable

from harness.experiment.http_schema import Concurrency


def find_concurrency(limit: Concurrency, holds: Callable[[int], bool]) -> int:
    """The highest count for which `holds` said so; 1 when it never did.

    From the first count on doubled while they hold, else halved until one does.

    `holds`: makes a trial with so many connections, and says whether its 99th percentile was
    below the limit and nothing failed.
    """
    held, failed = 0, 0
    count = limit.first
    while not failed:
        if not holds(count):
            failed = count
        elif count == limit.most:
            return count
        else:
            held, count = count, min(2 * count, limit.most)
    while not held:
        count //= 2
        if count <= 1:
            return 1
        if holds(count):
            held = count
        else:
            failed = count
    for _ in range(limit.steps):
        middle = round(math.sqrt(held * failed))
        if middle in (held, failed):
            break
        held, failed = (middle, failed) if holds(middle) else (held, middle)
    return held
