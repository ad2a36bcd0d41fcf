"""The stratified test against scipy's of one stratum, and against counting all orders."""

import itertools

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from harness.analysis.stratified import least_p, mann_whitney


@pytest.mark.parametrize("method", ["exact", "asymptotic"])
def test_of_one_stratum_it_is_the_test_of_mann_and_whitney(method: str) -> None:
    random = np.random.default_rng(3)
    for n, m in ((3, 5), (8, 6), (12, 12)) if method == "exact" else ((40, 35), (9, 7)):
        a, b = random.normal(0, 1, n), random.normal(0.5, 1, m)
        if method == "asymptotic" and n < 20:
            a, b = np.round(a), np.round(b)  # ties
        p, effect = mann_whitney([(list(a), list(b))])
        found = mannwhitneyu(b, a, method=method)
        assert p == pytest.approx(found.pvalue) and (effect + 1) / 2 * n * m == found.statistic


def test_of_two_strata_it_is_the_share_of_all_orders_that_are_as_extreme() -> None:
    strata = [([1.0, 4.0], [3.0, 5.0, 6.0]), ([2.0, 3.0], [1.0, 9.0])]
    p, effect = mann_whitney(strata)
    sums = [
        sum(np.sum(np.subtract.outer(picked, rest) > 0) for picked, rest in orders)
        for orders in itertools.product(
            *(
                [
                    (list(picked), [value for value in [*a, *b] if value not in picked])
                    for picked in itertools.combinations([*a, *b], len(b))
                ]
                for a, b in strata
            )
        )
    ]
    seen = (effect + 1) / 2 * 10
    tail = min(np.mean([each >= seen for each in sums]), np.mean([each <= seen for each in sums]))
    assert seen == pytest.approx(7) and p == pytest.approx(min(1.0, 2 * tail))


def test_the_least_p_is_that_of_the_clearest_order() -> None:
    clear = ([1.0, 2.0], [3.0, 4.0])
    assert mann_whitney([clear, clear]) == pytest.approx((least_p([(2, 2), (2, 2)]), 1.0))
    assert least_p([(1, 1)]) == 1.0


def test_equal_values_are_no_difference() -> None:
    assert mann_whitney([([1.0, 1.0], [1.0, 1.0])]) == (1.0, 0.0)
