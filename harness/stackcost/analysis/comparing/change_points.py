"""Splits a series into groups of similar values: where did it change?

A part of the series stands out if its mean differs from that of the rest by more than it would in
another order of the same values (circular binary segmentation: Olshen and others, Biostatistics,
2004). All parts are looked at together, so that of series without a change at most the share `RATE`
is split, whatever the distribution of the values. What was split is looked at again.

FD.io's `jumpavg` needs the fewest bits to describe the series. It has no such rate: a single value
that is far off is a group of its own.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from stackcost.analysis.comparing.significance import p_of_sides
from stackcost.analysis.trial.thresholds import RATE

# Fewer values are no group: one or two may be outliers.
LEAST = 3
# A value counts as no further from the median than so many deviations, so that an outlier hides
# nothing.
FURTHEST = 4
# A normal deviation over the median distance from the median.
OF_MEDIAN_DISTANCE = 1.4826
# Orders that a series is compared with, in batches: most series without a change need only one.
ORDERS, BATCH = 1999, 100
# The next longer part that is looked at is longer by this factor.
LONGER = 1.1
Numbers = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


def groups_of(values: Sequence[float]) -> list[int]:
    """The place of the first value of each group, in order."""
    firsts = [0, *_changes(np.asarray(values, dtype=float), 0)]
    ends = [*firsts[1:], len(values)]
    kept = [0]
    for first, end in zip(firsts[1:], ends[1:], strict=True):
        if p_of_sides(values[kept[-1] : first], values[first:end]) < RATE:
            kept.append(first)
    return kept


def _changes(values: Numbers, first: int) -> list[int]:
    """Where a series changes that begins at `first`."""
    if len(values) < 2 * LEAST or not (found := _part_apart(_without_outliers(values))):
        return []
    places = [0, *(at for at in found if 0 < at < len(values)), len(values)]
    inner = [_changes(values[begin:end], first + begin) for begin, end in pairwise(places)]
    between = [[first + at] for at in places[1:-1]]
    return [
        place
        for at, own in enumerate(inner)
        for place in (*own, *(between[at] if at < len(between) else ()))
    ]


def _without_outliers(values: Numbers) -> Numbers:
    middle = np.median(values)
    reach = FURTHEST * OF_MEDIAN_DISTANCE * np.median(np.abs(values - middle))
    return np.clip(values, middle - reach, middle + reach) if reach else values


def _part_apart(values: Numbers) -> tuple[int, int] | None:
    """Begin and end of the part that stands out most, if chance does not explain it."""
    random = np.random.default_rng(1)
    parts = _parts(len(values))
    apart = _apart(values[None], parts)[0]
    most = apart.argmax()
    allowed = int(RATE * (ORDERS + 1)) - 1  # orders that may be as far apart as the true one
    as_far = 0
    for _ in range(0, ORDERS, BATCH):
        others = random.permuted(np.tile(values, (BATCH, 1)), axis=1)
        as_far += int((_apart(others, parts).max(axis=1) >= apart[most] * (1 - 1e-9)).sum())
        if as_far > allowed:
            return None
    return int(parts[0][most]), int(parts[1][most])


def _parts(n: int) -> tuple[Places, Places]:
    """Begins and ends of the parts that are looked at: all that end the series, and others of some
    lengths up to its half. A part, what is before it and what is after it have `LEAST` values each.
    """
    begins, ends = [0] * (n - 2 * LEAST + 1), list(range(LEAST, n - LEAST + 1))
    length = LEAST
    while length <= n // 2:
        for begin in range(LEAST, n - length - LEAST + 1):
            begins.append(begin)
            ends.append(begin + length)
        length = max(length + 1, int(length * LONGER))
    return np.array(begins), np.array(ends)


def _apart(orders: Numbers, parts: tuple[Places, Places]) -> Numbers:
    """Of each row, how far the mean of each part is from that of the rest, in equal deviations."""
    rows, n = orders.shape
    sums = np.zeros((rows, n + 1))
    np.cumsum(orders - orders.mean(axis=1, keepdims=True), axis=1, out=sums[:, 1:])
    begins, ends = parts
    lengths = ends - begins
    apart: Numbers = np.abs(sums[:, ends] - sums[:, begins]) / np.sqrt(lengths * (n - lengths))
    return apart
