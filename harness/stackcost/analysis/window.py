"""Cuts one series to a window of time: a counter to its growth, a level to its median.

Edges are read on demand (`ServerSession.read_edge`), so each series has a reading at each edge or
soon after. Between two readings a counter is taken to grow evenly; where readings begin after the
window's start or stop before its end by a little, the missing part is taken to be as the rest.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median

from stackcost.contracts.sample import Sample
from stackcost.contracts.window import Window

COVERED = 0.95  # share of a window that readings must span
# Below this share of its last value a counter was reset; exact CPU times may fall by a
# microsecond when a reading interrupts a booking.
RESET = 0.99

Known = Sequence[tuple[float, float]]


def known_values(series: Iterable[Sample]) -> Known:
    """Time and value of each known sample of one metric with the same labels, sorted by time.

    `series`: the samples, in any order.
    """
    return sorted((sample.time, sample.value) for sample in series if sample.value is not None)


def growth(known: Known, window: Window) -> float | None:
    """By how much a counter grew inside the window.

    None when the readings do not span the window, and when the counter was reset in it. A reset
    before it is none: a generator resets its counters when a load begins, after a first reading.
    """
    known = _around(known, window)
    if len(known) < 2 or any(after < RESET * before for (_, before), (_, after) in pairwise(known)):
        return None
    start, end = max(window.start, known[0][0]), min(window.end, known[-1][0])
    if end <= start or end - start < COVERED * window.length:
        return None
    return (_value_at(known, end) - _value_at(known, start)) * window.length / (end - start)


def level(known: Known, window: Window) -> float | None:
    """Median of a gauge inside the window; None when it was not read there."""
    inside = [value for time, value in known if window.start <= time <= window.end]
    return median(inside) if inside else None


def _around(known: Known, window: Window) -> Known:
    """From the last reading not after the window's start to the first not before its end."""
    first = bisect_right(known, (window.start, math.inf)) - 1
    return known[max(first, 0) : bisect_left(known, (window.end,)) + 1]


def _value_at(known: Known, moment: float) -> float:
    """The counter at a moment from its first reading to its last."""
    after = max(bisect_left(known, (moment,)), 1)
    (time_before, before), (time_after, value_after) = known[after - 1], known[after]
    if time_after == time_before:
        return value_after
    return before + (value_after - before) * (moment - time_before) / (time_after - time_before)
