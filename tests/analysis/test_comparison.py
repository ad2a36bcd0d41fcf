"""The one comparison, on values whose difference is known."""

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import wilcoxon

from stackcost.analysis.comparing.comparison import (
    Comparison,
    Design,
    Question,
    compare,
    compare_all,
)
from stackcost.analysis.comparing.series import Series
from stackcost.analysis.comparing.significance import (
    holm,
    least_p,
    p_of_pairs,
    pairs_needed,
    values_needed,
)
from stackcost.analysis.trial.thresholds import RATE

SIDES, PAIRS = Design(paired=False), Design(paired=True)


def series(values: Sequence[float], is_rate: bool = False) -> Series:
    return Series.of(dict(enumerate(values)), "us", is_rate=is_rate)


def of_sides(a: Sequence[float], b: Sequence[float]) -> Comparison:
    return compare(series(a), series(b), SIDES)


def of_pairs(a: Sequence[float], b: Sequence[float]) -> Comparison:
    return compare(series(a), series(b), PAIRS)


def test_a_clear_difference_is_called_with_its_size_and_direction() -> None:
    found = of_sides([100, 101, 102, 103, 104, 105], [110, 111, 112, 113, 114, 115.5])
    assert found.verdict == "dearer" and found.effect == 1
    assert found.ratio == pytest.approx(112.5 / 102.5, rel=0.001)
    assert found.low is not None and found.high is not None and found.coverage is not None
    assert 1 < found.low < found.ratio < found.high and found.coverage >= 0.95


def test_a_verdict_says_which_way_in_the_words_of_costs_and_of_rates() -> None:
    low, high = [100.0 + n for n in range(6)], [200.0 + n for n in range(6)]
    assert [of_sides(*each).verdict for each in ((low, high), (high, low))] == ["dearer", "cheaper"]
    rates = series(low, is_rate=True), series(high, is_rate=True)
    assert compare(*rates, SIDES).verdict == "higher"
    assert compare(*rates[::-1], SIDES).verdict == "lower"


def test_the_same_values_show_no_difference() -> None:
    same = [100, 101, 102, 103, 104, 105, 106]
    found = of_sides(same, [value + 0.5 for value in reversed(same)])
    assert found.verdict == "no difference shown"
    assert found.p is not None and found.p > 0.1


def test_too_few_trials_are_never_called_however_clear() -> None:
    found = of_sides([1, 1.1, 1.2], [9, 9.1, 9.2])
    assert found.verdict == "cannot tell" and found.p is None
    assert "5 and 5 can show a difference" in found.reason
    assert least_p(5, 5) < RATE <= least_p(4, 4) and values_needed(RATE) == 5


def test_what_is_unknown_on_one_side_cannot_be_decided_and_has_its_reason() -> None:
    found = compare(series([1, 2]), Series.of({1: None}, "us", "not read"), SIDES)
    assert (found.verdict, found.reason, found.ratio) == ("cannot tell", "not read", None)


def test_what_could_have_been_shown_is_what_nine_in_ten_simulated_comparisons_show() -> None:
    random = np.random.default_rng(5)

    def draw(median: float) -> list[float]:
        return list(median * random.lognormal(0, 0.03, 12))

    typical = np.median([of_sides(draw(100), draw(100)).detectable or 0.0 for _ in range(200)])
    shown = [of_sides(draw(100), draw(100 * (1 + typical))).differs for _ in range(200)]
    assert 0.84 <= sum(shown) / 200 <= 0.95


def turns(above: float, random: np.random.Generator) -> tuple[list[float], list[float]]:
    """16 of A and of B, scattered by 2.5 %, in an hour that changes both by 10 %."""
    hour = random.lognormal(0, 0.1, 16)
    a, b = (median * hour * random.lognormal(0, 0.025, 16) for median in (100, 100 * above))
    return list(a), list(b)


def test_what_pairs_could_have_shown_is_what_nine_in_ten_of_them_show() -> None:
    random = np.random.default_rng(5)
    found = [of_pairs(*turns(1.0, random)).detectable or 0.0 for _ in range(300)]
    shown = [of_pairs(*turns(1 + float(np.median(found)), random)).differs for _ in range(300)]
    assert 0.84 <= sum(shown) / 300 <= 0.96


ONE_PERCENT = [100.0 + 3 * number for number in range(20)]  # A, in an hour that grows dearer
DEARER = [1.01 * cost for cost in ONE_PERCENT[:-1]] + [30.0]  # B: 19 pairs 1 % up, one far below


def test_the_direction_of_pairs_is_that_of_the_pairs() -> None:
    found = of_pairs(ONE_PERCENT, DEARER)
    assert found.verdict == "dearer" and found.ratio == pytest.approx(1.01)
    assert found.effect == pytest.approx((190 - 20) / 210), "W+ - W- of Wilcoxon's ranks"
    assert found.low == pytest.approx(1.01) and found.high == pytest.approx(1.01)
    assert np.median(found.ratios.values) == pytest.approx(1.01) and found.ratios.minimum < 0.3


def test_pairs_that_are_too_few_for_their_own_test_are_tested_as_two_sides() -> None:
    few = of_pairs([1, 1.1, 1.2], [9, 9.1, 9.2])
    assert (few.verdict, few.reason) == ("cannot tell", "3 pairs; 5 can show a difference")
    a = [100.0, 101, 102, 103, 104]
    for b, verdict in (([2 * cost for cost in a], "dearer"), (a[::-1], "no difference shown")):
        found = of_pairs(a, b)
        assert found.verdict == verdict and found.paired
    assert of_pairs([1.0] * 8, [2.0] * 8).p == pytest.approx(2 / 2**8)
    assert pairs_needed(RATE) == 8


def test_equal_ratios_have_the_p_that_scipy_finds_by_trying_all_signs() -> None:
    a, b = [1.0] * 7, [1.0, 2.0, 2.0, 4.0, 0.5, 8.0, 8.0]
    assert p_of_pairs(a, b) == pytest.approx(wilcoxon(np.log(b)).pvalue)


def test_sides_that_point_the_other_way_than_their_pairs_show_nothing() -> None:
    """Each B is a little below its A, but for one far above: as sides B may seem above."""
    a = [100.0, 100.2, 100.4, 100.6, 100.8, 1.0]
    b = [99.9, 100.1, 100.3, 100.5, 100.7, 500.0]
    found = of_pairs(a, b)
    assert found.effect is not None and found.verdict == "no difference shown"


def test_a_number_that_is_asked_for_is_no_side_that_spreads() -> None:
    """By sides 6 against 6 equal numbers would have p = 0.002; by chance it is 2 / 2^6."""
    wanted, seen = Series.given(100, range(6), "us"), series([101.0 + n for n in range(6)])
    found = compare(wanted, seen, PAIRS)
    assert (found.verdict, found.reason) == ("cannot tell", "6 trials; 8 can show a difference")
    enough = series([101.0 + n for n in range(8)])
    assert compare(Series.given(100, range(8), "us"), enough, PAIRS).verdict == "dearer"


def test_what_counts_as_no_difference_may_be_another_ratio_than_one() -> None:
    a, b = [100.0 + n for n in range(10)], [97.0 + n for n in range(10)]
    found = compare(series(a), series(b), Design(paired=False, no_change=0.9))
    assert found.verdict == "dearer" and found.ratio == pytest.approx(0.97, abs=0.005)
    assert found.low is not None and 0.9 < found.low < 0.97


def test_rounds_without_their_other_half_and_without_a_ratio_are_set_aside() -> None:
    a = Series.of({1: 10.0, 2: 10.0, 3: 10.0, 4: -1.0}, "B")
    b = Series.of({2: 20.0, 3: 21.0, 4: 20.0, 5: 20.0}, "B")
    found = compare(a, b, PAIRS)
    assert found.ratios.values == pytest.approx([2.0, 2.1]) and found.ratios.rounds == [2, 3]
    assert found.set_aside == [
        "2 trials left out: the other trial of the pair is missing",
        "1 pair left out: one of the values is not above zero",
    ]
    assert (
        compare(a, Series.of({9: 1.0}, "B"), PAIRS).reason
        == "both systems were not measured in the same round"
    )


def test_figures_without_verdict_do_not_weaken_the_others() -> None:
    clear = series([1, 2, 3, 4, 5]), series([11, 12, 13, 14, 15])
    asked = [Question(*clear, SIDES, f"figure {number}") for number in range(20)]
    first, *others = compare_all([each._replace(judged=each is asked[0]) for each in asked])
    assert first.verdict == "dearer"
    assert {each.verdict for each in others} == {"not judged"}
    assert {each.verdict for each in compare_all(asked)} == {"cannot tell"}


def test_over_loads_a_turn_that_lacks_one_is_no_cheaper_for_that() -> None:
    whole = {n: {1000.0: 100.0, 2000.0: 50.0} for n in range(6)}
    lacking = whole | {0: {2000.0: 50.0}}
    found = compare(Series("us", lacking), Series("us", whole), SIDES)
    assert found.unit == "of A" and found.a.values == pytest.approx([1] * 6)
    alone = compare(Series("us", {1: {1.0: 1.0}}), Series("us", whole), SIDES)
    assert alone.reason == "both systems were not measured at the same load"


def test_correction_is_holms() -> None:
    # Smallest x 3, next x 2, largest x 1, never falling.
    assert holm([0.03, 0.01, 0.04]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
