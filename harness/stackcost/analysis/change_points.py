"""Splits a series of measurements into groups of similar ones: where did it change?

The split needs the fewest bits to describe all values (minimum description length), in the coding
of FD.io's `jumpavg`, with which CSIT shows its trends; the groups are the same. That package takes
time by the square of the measurements in Python, 14 minutes for 10,000. Here numpy does all
possible starts of the last group at once, which takes seconds. The tests compare the two.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

# The unit in which values are coded: of the highest value, this many bits are significant.
SIGNIFICANT_BITS = 12.0
Numbers = npt.NDArray[np.float64]


class Segment(NamedTuple):
    """A group of consecutive measurements: the place of the first one, and their number.

    `mean`, `deviation`: of all their values.
    """

    first: int
    length: int
    mean: float
    deviation: float


def segments_of(measurements: Sequence[Sequence[float]]) -> list[Segment]:
    """The groups in order. The values of a measurement stay together; none may be negative."""
    highest = max((value for values in measurements for value in values), default=0.0)
    if not measurements:
        return []
    if highest <= 0:
        return [Segment(0, len(measurements), 0.0, 0.0)]
    unit = highest / (2 ** (SIGNIFICANT_BITS + 1) - 1)
    coded = [np.asarray(values, dtype=float) / unit for values in measurements]
    return [
        each._replace(mean=each.mean * unit, deviation=each.deviation * unit)
        for each in _Search(len(coded), sum(map(len, coded)), highest / unit).over(coded)
    ]


class _Search:
    """All ways to end the series in one last group, by the place where that group starts."""

    def __init__(self, starts: int, values: int, highest: float):
        self._highest = highest
        self._by_size = _bits_by_size(values, highest)
        empty = np.zeros(starts)
        self._size = np.zeros(starts, dtype=np.int64)
        self._mean, self._squares, self._before = empty.copy(), empty.copy(), empty.copy()
        self._earlier_mean = np.full(starts, np.nan)  # of the group before; none: not a number
        self._from = np.full(starts, -1)  # where the group before starts

    def over(self, measurements: Sequence[Numbers]) -> list[Segment]:
        """The best split of all measurements."""
        best, bits = -1, 0.0
        ends: list[Segment] = []
        for at, values in enumerate(measurements):
            self._before[at], self._from[at] = bits, best
            if best >= 0:
                self._earlier_mean[at] = self._mean[best]
            self._append(at + 1, values)
            all_bits = self._bits(at + 1)
            best = int(np.argmin(all_bits[:at])) if at else 0
            if all_bits[at] <= all_bits[best]:
                best = at
            bits = float(all_bits[best])
            ends.append(self._group(best, at))
        found = [ends[-1]]
        while found[-1].first:
            found.append(ends[found[-1].first - 1])
        return found[::-1]

    def _append(self, starts: int, values: Numbers) -> None:
        """Add a measurement to the last group of each way."""
        mean, squares = float(values.mean()), float(((values - values.mean()) ** 2).sum())
        size = self._size[:starts]
        step = mean - self._mean[:starts]
        whole = size + len(values)
        self._squares[:starts] += squares + step * step * size * len(values) / whole
        self._mean[:starts] += step * len(values) / whole
        self._size[:starts] = whole

    def _bits(self, starts: int) -> Numbers:
        size, mean, highest = self._size[:starts], self._mean[:starts], self._highest
        earlier = self._earlier_mean[:starts]
        norm = earlier * earlier - (earlier - 1) * highest + highest * highest / 2
        jump = np.log2(norm) - np.log2(np.abs(mean - earlier) + 1)
        bits = self._before[:starts] + self._by_size[size]
        bits += np.where(np.isnan(earlier), math.log2(highest + 1), jump)
        deviation = np.sqrt(self._squares[:starts] / size)
        of_values = np.log2((deviation + 1) * (deviation + 2))
        of_values += np.log2(deviation + 1) * (size - 2)
        bits += np.where(size > 1, of_values, 0.0)
        return np.asarray(bits)

    def _group(self, start: int, end: int) -> Segment:
        deviation = math.sqrt(self._squares[start] / self._size[start])
        return Segment(start, end - start + 1, float(self._mean[start]), deviation)


def _bits_by_size(values: int, highest: float) -> Numbers:
    """The part of a group's bits that depends on its number of values alone."""
    found = np.zeros(values + 1)
    for size in range(1, values + 1):
        found[size] = math.log2(size * (size + 1))
        if size > 1:
            found[size] += math.log2(1 - 1 / (highest + 2))
            sphere = math.log(2) + math.log(math.pi) * ((size - 1) / 2)
            sphere += math.log(size) * ((size - 2) / 2) - math.lgamma((size - 1) / 2)
            found[size] += sphere / math.log(2)
    return found
