"""A two-sided Mann-Whitney test over strata: trials are compared with those of their stratum only.

The statistic is the sum of the strata's U (van Elteren, Bulletin of the International Statistical
Institute, 1960, with one weight for all); of a single stratum it is the test of Mann and Whitney
(Annals of Mathematical Statistics, 1947). Its distribution is exact without ties, the strata's own
convolved, and beyond `EXACT_UP_TO` trials, or with ties, normal with the variance corrected.
"""

from collections.abc import Sequence
from functools import cache, reduce
from math import comb, prod

import numpy as np
from scipy.stats import norm, rankdata

EXACT_UP_TO = 60  # trials; beyond it the normal approximation is as good

Stratum = tuple[Sequence[float], Sequence[float]]


def mann_whitney(strata: Sequence[Stratum]) -> tuple[float, float]:
    """p, and Cliff's delta: positive when the second ones are above the first."""
    above = sum(_above(a, b) for a, b in strata)
    pairs = sum(len(a) * len(b) for a, b in strata)
    effect = 2 * above / pairs - 1
    trials = sum(len(a) + len(b) for a, b in strata)
    distinct = all(len({*a, *b}) == len(a) + len(b) for a, b in strata)
    return (_exact if distinct and trials <= EXACT_UP_TO else _normal)(strata, above), effect


def least_p(sizes: Sequence[tuple[int, int]]) -> float:
    """The smallest p that strata of n and m trials can have at all, when all are told apart."""
    return min(1.0, 2 / prod(comb(n + m, n) for n, m in sizes))


def _above(a: Sequence[float], b: Sequence[float]) -> float:
    """U: in how many pairs the second one is above the first; equal ones count a half."""
    ranks = rankdata([*b, *a])
    return float(ranks[: len(b)].sum() - len(b) * (len(b) + 1) / 2)


def _exact(strata: Sequence[Stratum], above: float) -> float:
    chances = reduce(np.convolve, [_chances(len(a), len(b)) for a, b in strata])
    at = round(above)
    return float(min(1.0, 2 * min(chances[: at + 1].sum(), chances[at:].sum())))


@cache
def _chances(n: int, m: int) -> np.ndarray:
    """Of each U, 0 to n m, when both are of one distribution: orders with it, of all orders."""
    counts = np.ones(1)
    for size in range(1, n + 1):  # the Gaussian binomial: times 1 - x^(m+size), by 1 - x^size
        counts = np.pad(counts, (0, m + size))
        counts[m + size :] -= counts[: -(m + size)].copy()
        for start in range(size):
            counts[start::size] = np.cumsum(counts[start::size])
        counts = counts[: size * m + 1]
    return counts / comb(n + m, n)


def _normal(strata: Sequence[Stratum], above: float) -> float:
    middle = sum(len(a) * len(b) for a, b in strata) / 2
    variance = sum(_variance(a, b) for a, b in strata)
    far = max(0.0, abs(above - middle) - 0.5)  # corrected for continuity
    return float(min(1.0, 2 * norm.sf(far / variance**0.5))) if variance else 1.0


def _variance(a: Sequence[float], b: Sequence[float]) -> float:
    n, m = len(a), len(b)
    _, repeats = np.unique([*a, *b], return_counts=True)
    ties = float((repeats**3 - repeats).sum()) / ((n + m) * (n + m - 1)) if n + m > 1 else 0.0
    return n * m / 12 * (n + m + 1 - ties)
