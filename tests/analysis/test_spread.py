from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackcost.analysis.comparing.comparison import Design, compare
from stackcost.analysis.comparing.ranks import effect_of_pairs
from stackcost.analysis.comparing.series import Series
from stackcost.analysis.spread import Spread, spread


def ratio(above: Sequence[float | None], below: Sequence[float | None]) -> Spread:
    """By round, as a factor has it."""
    a, b = (Series.of(dict(enumerate(side)), "us") for side in (below, above))
    return compare(a, b, Design(paired=True)).ratios


POSITIVE = st.floats(min_value=0.1, max_value=1e6)


def test_every_value_is_kept_with_median_and_range() -> None:
    seen = spread([5.0, 1.0, None, 3.0], "us")
    assert seen.values == [5.0, 1.0, 3.0]
    assert (seen.median, seen.minimum, seen.maximum, seen.unit) == (3.0, 1.0, 5.0, "us")


def test_nothing_known_is_none_with_a_reason() -> None:
    assert spread([None, None], "us", "no tracepoints").model_dump(exclude_none=True) == {
        "unit": "us",
        "values": [],
        "rounds": [],
        "reason": "no tracepoints",
    }
    assert ratio([None, 2.0], [1.0, 0.0]).median is None


def test_one_trial_has_no_interval_and_says_so() -> None:
    seen = ratio([30.0], [10.0])
    assert (seen.low, seen.high) == (None, None) and seen.median == pytest.approx(3.0)
    assert seen.reason == "1 trial: no interval"


def test_interval_of_the_ratio_narrows_with_the_trials_and_holds_the_truth() -> None:
    few = ratio([58.0, 62.0, 60.0], [10.2, 9.8, 10.0])
    many = ratio([58.0, 62.0, 60.0] * 8, [10.2, 9.8, 10.0] * 8)
    assert few.low and few.high and many.low and many.high
    assert few.low <= many.low <= 6.0 <= many.high <= few.high
    assert few.coverage == 0.75 and many.coverage and many.coverage >= 0.95


@given(st.lists(st.tuples(POSITIVE, POSITIVE), min_size=2, max_size=12))
def test_interval_and_range_always_hold_the_ratio(pairs: list[tuple[float, float]]) -> None:
    above, below = zip(*pairs, strict=True)
    size = effect_of_pairs(below, above)
    assert size == effect_of_pairs(below, above), "the same trials give the same interval"
    each = [a / b for a, b in pairs]
    assert size.ratio is not None and size.interval is not None
    low, high, _ = size.interval
    assert min(each) <= low * (1 + 1e-9) and high <= max(each) * (1 + 1e-9)
    assert low <= size.ratio <= high
