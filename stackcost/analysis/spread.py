"""Repeated measurements and the ratio of two of them, with their spread.

An interval is one of order statistics: it asks nothing of the distribution, and how often it holds
the truth is known beforehand (David and Nagaraja, Order Statistics, section 7.1). Few values cannot
have a good one: the range of two holds the true median in half of all repetitions, that of n in
1 - 2 / 2^n. So each interval says its coverage, and from 6 values on that is 95 % or more.

A ratio is taken round by round, as Kalibera and Jones ("Rigorous benchmarking in reasonable time")
ask: the interval belongs on the ratio that is claimed, not on its two parts.
"""

from collections.abc import Sequence
from math import comb
from typing import NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict

CONFIDENCE = 0.95


class Spread(BaseModel):
    """Every trial's value of one figure, and what they have in common.

    `median`, `minimum`, `maximum` over `values`. `low`, `high`: interval of the true median.
    `coverage`: in which share (0 to 1) of all repetitions such an interval holds it: at least 0.95
    from 6 values on; of fewer the interval is their range. All are None where nothing is known;
    `reason` then says why. A summary of before `coverage` was stated has it None.
    `rounds`: the round of each value, in the same order; empty where that was not written down.
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


def ratio(above: Sequence[float | None], below: Sequence[float | None], reason: str = "") -> Spread:
    """How many times `above` is `below`: entry i of both was measured in the same round.

    The values are the rounds' own ratios. A round in which one is unknown or `below` is not above
    zero is left out.
    """
    pairs = [(a, b) for a, b in zip(above, below, strict=True) if a is not None and b and b > 0]
    return spread([a / b for a, b in pairs], "1", reason or "no round in which both were measured")


def ratio_by_round(above: Spread, below: Spread) -> Spread:
    """The same of two figures, over the rounds that both have a value of."""
    if not above.rounds or not below.rounds:
        return Spread(unit="1", reason="no round in which both are known to have been measured")
    a, b = (dict(zip(each.rounds, each.values, strict=True)) for each in (above, below))
    common = sorted(a.keys() & b.keys())
    return ratio([a[number] for number in common], [b[number] for number in common])


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
