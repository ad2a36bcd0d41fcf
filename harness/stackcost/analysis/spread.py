"""Repeated measurements of one figure, with their spread.

Intervals come from order statistics: they are independent of the distribution, and their coverage
is known beforehand (David and Nagaraja, Order Statistics, section 7.1). With few values the
coverage is low: the range of two values contains the true median in half of all repetitions, that
of n values in 1 - 2 / 2^n. So each interval states its coverage; from 6 values on it is at least
95 %.
"""

from collections.abc import Sequence
from math import comb
from typing import NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict

from stackcost.analysis.trial.thresholds import CONFIDENCE


class Spread(BaseModel):
    """The values of one figure in all trials, and their statistics.

    `median`, `minimum`, `maximum`: of `values`. `low`, `high`: interval of the true median.
    `coverage`: the share (0 to 1) of repetitions in which such an interval contains the true
    median: at least 0.95 from 6 values on; with fewer values the interval is their range. All are
    None if there are no values; `reason` then says why. `rounds`: the round of each value, in the
    same order; empty if they have none.
    """

    model_config = ConfigDict(frozen=True)

    unit: str
    values: list[float] = []
    median: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    low: float | None = None
    high: float | None = None
    coverage: float | None = None
    rounds: list[int] = []
    reason: str = ""

    def by_round(self) -> list[tuple[int, float]]:
        """Each value with its round; those without rounds in their order."""
        return list(zip(self.rounds or range(1, len(self.values) + 1), self.values, strict=True))


class Interval(NamedTuple):
    """From `low` to `high`; `coverage`: the share of repetitions in which that holds the truth."""

    low: float
    high: float
    coverage: float


def spread(
    values: Sequence[float | None], unit: str, reason: str = "", rounds: Sequence[int] = ()
) -> Spread:
    """Spread of one figure over trials; unknown ones (None) are left out.

    `rounds`: of each of the values, the round in which it was measured.
    """
    known = [value for value in values if value is not None]
    if not known:
        return Spread(unit=unit, reason=reason or "not measured in any trial")
    found = median_interval(known)
    return Spread(
        unit=unit,
        values=known,
        median=float(np.median(known)),
        minimum=min(known),
        maximum=max(known),
        low=found.low if found else None,
        high=found.high if found else None,
        coverage=found.coverage if found else None,
        rounds=[number for number, value in zip(rounds, values, strict=False) if value is not None],
        reason="" if found else "1 trial: no interval",
    )


def combined(parts: Sequence[tuple[float, Spread]]) -> Spread:
    """The sum of figures, each times its factor, round by round; a difference has a factor of -1.

    Unknown in rounds in which one of them is, and altogether if one is unknown in all; `reason`
    is then that one's. Values without rounds count from 1. ValueError if there are no parts.
    """
    by_round = [dict(part.by_round()) for _, part in parts]
    common = sorted(set.intersection(*map(set, by_round)))
    reason = next((part.reason for _, part in parts if part.median is None), "")
    sums = [
        sum(factor * each[at] for (factor, _), each in zip(parts, by_round, strict=True))
        for at in common
    ]
    return spread(sums, parts[0][1].unit, reason, common)


def median_interval(values: Sequence[float]) -> Interval | None:
    """Of the true median of what independent values were drawn from; None of a single one.

    Of n values as many lie below it as heads come of n coins.
    """
    n = len(values)
    return interval(values, np.array([comb(n, k) / 2**n for k in range(n + 1)])) if n > 1 else None


def interval(candidates: Sequence[float] | np.ndarray, chances: np.ndarray) -> Interval:
    """The shortest between two candidates, as far from either end, that reaches `CONFIDENCE`; where
    none does, from the first to the last, with the coverage that this has.

    `chances[k]`: how likely k of the candidates lie below the truth; symmetric.
    """
    ordered = np.sort(candidates)
    left_out = 2 * np.cumsum(chances[: (len(ordered) + 1) // 2])  # by the rank at which it begins
    rank = max(0, int((1 - left_out >= CONFIDENCE).sum()) - 1)
    return Interval(
        float(ordered[rank]), float(ordered[-1 - rank]), max(0.0, float(1 - left_out[rank]))
    )


def bounds(spread: Spread) -> tuple[float, float] | None:
    """The interval to show: the range where none states its coverage; None of an unknown."""
    if spread.median is None or spread.minimum is None or spread.maximum is None:
        return None
    if spread.low is not None and spread.high is not None and spread.coverage is not None:
        return spread.low, spread.high
    return spread.minimum, spread.maximum
