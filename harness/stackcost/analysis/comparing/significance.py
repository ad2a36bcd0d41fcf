"""Tests of whether two sides differ, and what they can tell: scipy's, on values or on pairs."""

import itertools
from collections.abc import Sequence
from math import comb

import numpy as np

from stackcost.analysis.trial.thresholds import EFFICIENCY, EXACT_UP_TO, POWER

SIGNS_TRIED_UP_TO = 13  # pairs, by `scipy.stats.wilcoxon`

# scipy.stats takes a second to import, which a stored answer does not need.


def holm(p_values: Sequence[float]) -> list[float]:
    """Corrected p values in the given order (Holm, Scandinavian Journal of Statistics, 1979)."""
    order = np.argsort(p_values)
    stepped = [p_values[at] * (len(p_values) - rank) for rank, at in enumerate(order)]
    corrected = np.empty(len(p_values))
    corrected[order] = np.minimum(np.maximum.accumulate(stepped), 1.0) if stepped else []
    return [float(value) for value in corrected]


def least_p(n: int, m: int) -> float:
    """The smallest two-sided p that n and m values can have at all."""
    return min(1.0, 2 / comb(n + m, n))


def values_needed(rate: float) -> int:
    """Values on each side that can show a difference at this rate."""
    return next(n for n in itertools.count(2) if least_p(n, n) < rate)


def pairs_needed(rate: float) -> int:
    """Pairs that can show a difference at this rate by their own test."""
    return next(n for n in itertools.count(2) if 2.0 ** (1 - n) < rate)


def p_of_pairs(a: Sequence[float], b: Sequence[float]) -> float:
    """Wilcoxon's signed-rank test of the pairs' ratios, two-sided; all are above zero.

    Where ratios are equal, or 1, and the pairs few, all signs are tried: scipy does so, too, but
    one after the other, which takes a second.
    """
    from scipy.stats import rankdata, wilcoxon

    apart = np.log(b) - np.log(a)
    differ = apart[apart != 0]
    ranks = rankdata(np.abs(differ))
    if len(apart) > SIGNS_TRIED_UP_TO or len(apart) == len({*ranks}):
        return float(wilcoxon(apart).pvalue) if differ.size else 1.0
    sums = np.zeros(1)
    for rank in ranks:
        sums = np.concatenate([sums, sums + rank])
    seen = ranks[differ > 0].sum()
    return float(min(1.0, 2 * min((sums <= seen).mean(), (sums >= seen).mean())))


def p_of_sides(a: Sequence[float], b: Sequence[float]) -> float:
    """Mann and Whitney's test of two independent sides, two-sided."""
    from scipy.stats import mannwhitneyu

    distinct = len({*a, *b}) == len(a) + len(b)
    method = "exact" if distinct and len(a) + len(b) <= EXACT_UP_TO else "asymptotic"
    return float(mannwhitneyu(b, a, method=method).pvalue)


def detectable(a: Sequence[float], b: Sequence[float], by_pairs: bool, rate: float) -> float | None:
    """The ratio, less 1, that as many values with such a spread show in the share `POWER` of cases.

    By the power of a t test, of whose efficiency the tests by ranks have `EFFICIENCY` at the least
    (Hodges and Lehmann, Annals of Mathematical Statistics, 1956). None unless all are above zero.
    """
    from scipy.stats import t

    if min(*a, *b) <= 0:
        return None
    sides = np.log(a), np.log(b)
    if by_pairs:
        free, error = len(a) - 1, np.std(sides[1] - sides[0], ddof=1) / np.sqrt(len(a))
    else:
        free = len(a) + len(b) - 2
        deviation = np.sqrt(sum(((side - side.mean()) ** 2).sum() for side in sides) / free)
        error = deviation * np.sqrt(1 / len(a) + 1 / len(b))
    error /= np.sqrt(EFFICIENCY)
    return float(np.expm1((t.ppf(1 - rate / 2, free) + t.ppf(POWER, free)) * error))
