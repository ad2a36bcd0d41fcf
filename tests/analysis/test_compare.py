"""The test behind `stackcost diff`, on values whose difference is known."""

from collections.abc import Sequence

import numpy as np
import pytest

from stackcost.analysis.compare import (
    RATE,
    Comparison,
    Pair,
    compare,
    holm,
    least_p,
    pairs_needed,
    trials_needed,
)
from stackcost.analysis.spread import Spread, spread


def values_of(numbers: Sequence[float]) -> Spread:
    """Without the interval of the median, which these tests do not look at."""
    known = list(numbers)
    return Spread(unit="us", values=known, median=float(np.median(known)))


def judged(a: Sequence[float], b: Sequence[float]) -> Comparison:
    (found,) = compare([Pair("cost", "1,000/s", values_of(a), values_of(b))], [True])
    return found


def test_a_clear_difference_is_called_with_its_size_and_direction() -> None:
    found = judged([100, 101, 102, 103, 104, 105], [110, 111, 112, 113, 114, 115.5])
    assert found.verdict == "different" and found.effect == 1
    assert found.ratio == pytest.approx(112.5 / 102.5, rel=0.001)
    assert found.low is not None and found.high is not None and found.coverage is not None
    assert 1 < found.low < found.ratio < found.high and found.coverage >= 0.95


def test_the_same_values_show_no_difference() -> None:
    same = [100, 101, 102, 103, 104, 105, 106]
    found = judged(same, [value + 0.5 for value in reversed(same)])
    assert found.verdict == "no difference shown"
    assert found.p is not None and found.p > 0.1


def test_too_few_trials_are_never_called_however_clear() -> None:
    found = judged([1, 1.1, 1.2], [9, 9.1, 9.2])
    assert found.verdict == "too few trials" and found.p is None
    assert "5 and 5 can show a difference" in found.reason
    assert least_p(5, 5) < RATE <= least_p(4, 4) and trials_needed(RATE) == 5


def test_what_is_unknown_on_one_side_has_no_verdict_and_its_reason() -> None:
    unknown = spread([None], "us", "not read")
    (found,) = compare([Pair("cost", "", values_of([1, 2]), unknown)], [True])
    assert (found.verdict, found.reason, found.ratio) == ("unknown", "not read", None)


def test_what_could_have_been_shown_is_what_nine_in_ten_simulated_comparisons_show() -> None:
    random = np.random.default_rng(5)

    def draw(median: float) -> Spread:
        return values_of(median * random.lognormal(0, 0.03, 12))

    typical = np.median([judge_one(draw(100), draw(100)).detectable or 0.0 for _ in range(200)])
    shown = [judge_one(draw(100), draw(100 * (1 + typical))).verdict for _ in range(200)]
    assert 0.84 <= shown.count("different") / 200 <= 0.95


def judge_one(a: Spread, b: Spread, matched: bool = False) -> Comparison:
    (found,) = compare([Pair("cost", "", a, b, matched)], [True])
    return found


def turns(above: float, random: np.random.Generator) -> tuple[Spread, Spread]:
    """16 of A and of B, scattered by 2.5 %, in an hour that changes both by 10 %."""
    hour = random.lognormal(0, 0.1, 16)
    a, b = (median * hour * random.lognormal(0, 0.025, 16) for median in (100, 100 * above))
    return values_of(a), values_of(b)


def test_what_the_hour_did_to_both_of_a_pair_hides_no_difference_and_makes_none() -> None:
    random = np.random.default_rng(3)
    equal, dearer = ([turns(above, random) for _ in range(300)] for above in (1.0, 1.05))
    called = [judge_one(*sides, matched=True).verdict == "different" for sides in equal]
    assert sum(called) <= 300 * RATE + 3 * (300 * RATE) ** 0.5
    found = [judge_one(*sides, matched=True) for sides in dearer]
    assert [each.verdict for each in found].count("different") > 0.9 * 300
    assert np.median([each.ratio or 0.0 for each in found]) == pytest.approx(1.05, abs=0.005)
    assert sum(judge_one(*sides).verdict == "different" for sides in dearer) < 0.2 * 300


def test_what_pairs_could_have_shown_is_what_nine_in_ten_of_them_show() -> None:
    random = np.random.default_rng(5)
    typical = float(
        np.median([judge_one(*turns(1.0, random), True).detectable or 0.0 for _ in range(300)])
    )
    shown = [judge_one(*turns(1 + typical, random), True).verdict for _ in range(300)]
    assert 0.84 <= shown.count("different") / 300 <= 0.96


ONE_PERCENT = [100.0 + 3 * number for number in range(20)]  # A, in an hour that grows dearer
DEARER = [1.01 * cost for cost in ONE_PERCENT[:-1]] + [30.0]  # B: 19 pairs 1 % up, one far below


def test_the_direction_of_pairs_is_that_of_the_pairs() -> None:
    found = judge_one(values_of(ONE_PERCENT), values_of(DEARER), matched=True)
    assert found.verdict == "different" and found.ratio == pytest.approx(1.01)
    assert found.effect == pytest.approx((190 - 20) / 210), "W+ - W- of Wilcoxon's ranks"
    assert found.low == pytest.approx(1.01) and found.high == pytest.approx(1.01)


def test_a_correction_moves_pairs_towards_each_other() -> None:
    """B is 1 % above A: 1.1 % off, and it may be below; half a percent off, and it is above."""
    pair = Pair("cost", "", values_of(ONE_PERCENT), values_of(DEARER), True)
    verdicts = [compare([pair], [True], RATE, [off])[0].verdict for off in (0.005, 0.011)]
    assert verdicts == ["different", "no difference shown"]


def test_too_few_pairs_are_never_called_however_clear() -> None:
    found = judge_one(values_of([1, 1.1, 1.2]), values_of([9, 9.1, 9.2]), matched=True)
    assert (found.verdict, found.reason) == ("too few trials", "3 pairs; 8 can show a difference")
    few, enough = (judge_one(values_of([1.0] * n), values_of([2.0] * n), True) for n in (7, 8))
    assert few.verdict == "too few trials" and enough.verdict == "different"
    assert pairs_needed(RATE) == 8


def test_figures_without_verdict_do_not_weaken_the_others() -> None:
    clear = values_of([1, 2, 3, 4, 5]), values_of([11, 12, 13, 14, 15])
    pairs = [Pair(f"figure {number}", "", *clear) for number in range(20)]
    first, *others = compare(pairs, [True] + [False] * 19)
    assert first.verdict == "different"
    assert {each.verdict for each in others} == {"not judged"}
    assert {each.verdict for each in compare(pairs, [True] * 20)} == {"too few trials"}


def test_a_difference_that_may_be_the_corrections_error_is_none() -> None:
    a, b = (values_of([base + n for n in range(10)]) for base in (100, 120))
    for off, verdict in ((0.02, "different"), (0.15, "no difference shown")):
        (found,) = compare([Pair("cost", "", a, b)], [True], RATE, [off])
        assert found.verdict == verdict and found.b == b
    assert "15.0% off" in found.reason
    (far,) = compare([Pair("cost", "", a, b)], [True], RATE, [0.5])  # then it is one the other way
    assert far.verdict == "no difference shown"


def test_correction_is_holms() -> None:
    # Smallest x 3, next x 2, largest x 1, never falling.
    assert holm([0.03, 0.01, 0.04]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def share_called(above: float, comparisons: int, trials: int = 10) -> float:
    """Of simulated comparisons of 3 figures; trials scatter by 2 %, now and then one is far off."""
    random = np.random.default_rng(11)

    def draw(median: float) -> list[float]:
        far = np.where(random.random(trials) < 0.05, 1.2, 1.0)
        return list(median * far * random.lognormal(0, 0.02, trials))

    called = 0
    for _ in range(comparisons):
        pairs = [
            Pair("cost", "", values_of(draw(100)), values_of(draw(100 * above))) for _ in "123"
        ]
        verdicts = [each.verdict for each in compare(pairs, [True] * 3)]
        called += "different" in verdicts
    return called / comparisons


def test_identical_set_ups_are_called_different_at_most_at_the_stated_rate() -> None:
    assert share_called(1.0, comparisons=400) <= RATE + 3 * (RATE * (1 - RATE) / 400) ** 0.5


def test_five_percent_more_are_found_nine_times_in_ten() -> None:
    assert share_called(1.05, comparisons=100) >= 0.9
