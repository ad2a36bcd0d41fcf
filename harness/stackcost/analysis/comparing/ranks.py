"""How much one set of trials is above another, by the ranks that the tests of difference use.

Size, direction and interval are those of the test, so that they cannot contradict its verdict. Of
two independent sides it is Mann and Whitney's: all ratios of a trial of B to one of A. Of pairs it
is Wilcoxon's: the geometric means of any two of the pairs' ratios (Walsh averages). The size is the
median of these, by Hodges and Lehmann (Annals of Mathematical Statistics, 1963), the interval lies
between two of them, and the direction is the share of them above 1 less the share below: Cliff's
delta of sides, the matched-pairs rank-biserial correlation of pairs (Kerby, 2014).
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from stackcost.analysis.spread import Interval, interval


class RankEffect(NamedTuple):
    """`ratio`: B over A; None where not all of A is above zero. `interval`: of it; None without it,
    of a single trial of each, and of a single pair. `effect`: -1 (all of B below A) to 1.
    """

    ratio: float | None
    effect: float
    interval: Interval | None


def effect_of_sides(a: Sequence[float], b: Sequence[float]) -> RankEffect:
    """Of two independent sets of trials."""
    effect = _balance(np.subtract.outer(b, a))
    if min(a) <= 0:
        return RankEffect(None, effect, None)
    ratios = np.divide.outer(b, a).ravel()
    found = interval(ratios, _sides_chances(len(a), len(b))) if len(ratios) > 1 else None
    return RankEffect(float(np.median(ratios)), effect, found)


def effect_of_pairs(a: Sequence[float], b: Sequence[float]) -> RankEffect:
    """Of pairs, all above zero: entry i of both was measured in the same round."""
    ratios = np.divide(b, a)
    first, second = np.triu_indices(len(ratios))
    walsh = np.sqrt(ratios[first] * ratios[second])
    found = interval(walsh, _pairs_chances(len(ratios))) if len(ratios) > 1 else None
    return RankEffect(float(np.median(walsh)), _balance(walsh - 1), found)


def _balance(values: np.ndarray) -> float:
    return float(np.sign(values).mean())


@cache
def _pairs_chances(n: int) -> np.ndarray:
    """Of each sum of the ranks 1 to n, when every rank is in it by the toss of a coin."""
    chances = np.ones(1)
    for rank in range(1, n + 1):
        longer = np.zeros(len(chances) + rank)
        longer[: len(chances)] += chances / 2
        longer[rank:] += chances / 2
        chances = longer
    return chances


@cache
def _sides_chances(n: int, m: int) -> np.ndarray:
    """Of each number of wins of n values over m, when all orders of them are as likely.

    The largest of all is one of the n in n of n + m orders, and then wins over all m.
    """
    rows = [np.ones(1) for _ in range(m + 1)]  # of no value against 0 to m
    for one in range(1, n + 1):
        longer = [np.ones(1)]
        for other in range(1, m + 1):
            chances = np.zeros(one * other + 1)
            chances[other:] += rows[other] * one / (one + other)
            chances[: one * (other - 1) + 1] += longer[-1] * other / (one + other)
            longer.append(chances)
        rows = longer
    return rows[m]
