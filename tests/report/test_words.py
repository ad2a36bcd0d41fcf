import pytest

from stackcost.analysis.comparing.comparison import Comparison, Design, compare
from stackcost.analysis.comparing.series import Series
from stackcost.analysis.spread import Spread, spread
from stackcost.contracts.words import count
from stackcost.report.words import (
    change,
    change_of,
    factor,
    number,
    pair,
    share,
    size,
    verdict_of,
    with_interval,
    with_range,
)


def compared(above: list[float], below: float = 10.0) -> Comparison:
    """Costs by round against one that is the same in all."""
    rounds = range(len(above))
    return compare(
        Series.of(dict.fromkeys(rounds, below), "us"),
        Series.of(dict(enumerate(above)), "us"),
        Design(paired=True),
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "n/a"),
        (0.0, "0"),
        (3.14159, "3.14"),
        (9.9999, "10.0"),
        (99.96, "100"),
        (32_238.4, "32,238"),
        (-4.0, "-4"),
    ],
)
def test_numbers_have_three_digits(value: float | None, text: str) -> None:
    assert number(value) == text


def test_a_range_stands_beside_the_median_of_several() -> None:
    assert with_range(spread([1.5, 2.5, 2.0], "us")) == "2 (1.50-2.50)"
    assert with_range(spread([-2.5, 2.0, 1.5], "B")) == "1.50 (-2.50 to 2)"
    assert with_range(spread([7.0], "us")) == "7"
    assert with_range(Spread(unit="us")) == "n/a"


def test_a_factor_says_its_interval_or_why_it_has_none() -> None:
    costs = [60.0, 62.0, 64.0, 61.0, 63.0, 62.0, 70.0, 62.0, 61.0]
    assert factor(compared(costs).ratios) == (
        "6.20x (96.1 % interval 6.10-6.59, range of 9 rounds 6-7)"
    )
    assert factor(compared([60.0]).ratios) == "6x (1 trial: no interval)"
    assert factor(Spread(unit="1", reason="no round")) == "n/a: no round"


@pytest.mark.parametrize(("rounds", "cases"), [(2, "50"), (3, "75"), (4, "87.5"), (5, "93.8")])
def test_few_rounds_have_their_range_and_how_sure_that_is(rounds: int, cases: str) -> None:
    found = compared([60.0, 62.0, 61.0, 61.0, 61.0][:rounds]).ratios
    told = f"range of {rounds} rounds 6-6.20, which contains the true median in {cases} % of cases"
    assert told in factor(found) and told in with_interval(found)
    assert "interval" not in factor(found) and "95 %" not in factor(found)


def test_a_verdict_says_what_would_have_been_shown_and_why_it_cannot_tell() -> None:
    few, near = compared([60.0, 62.0]), compared([10.0 + 0.1 * (n % 3 - 1) for n in range(10)])
    assert verdict_of(few) == "cannot tell: 2 pairs; 5 can show a difference"
    assert change_of(few).startswith("+509.9% (+500.0% to +520.0%, in 50 % of cases")
    assert verdict_of(near).startswith("no difference shown (a difference of 1.")
    assert verdict_of(compared([60.0 + n for n in range(8)])) == "dearer"


def test_sizes_and_shares() -> None:
    assert (size(512), size(5 * 2**20), size(3 * 2**30)) == ("512 B", "5.0 MiB", "3.0 GiB")
    assert (size(-0.3), size(-0.0)) == ("0 B", "0 B")
    assert (size(None), share(0.957), share(None)) == ("n/a", "95.7%", "n/a")


def test_a_pair_names_its_run_once_and_a_count_has_its_plural() -> None:
    assert pair("run 1: nginx/kernel:rps", "run 1: astf-peer") == (
        "run 1: nginx/kernel:rps : astf-peer"
    )
    assert pair("nginx/kernel", "astf-peer") == "nginx/kernel : astf-peer"
    assert (count(1, "trial"), count(0, "trial"), count(2, "search", "searches")) == (
        "1 trial",
        "0 trials",
        "2 searches",
    )


def test_a_change_of_many_times_is_a_factor() -> None:
    assert change(1.05, 1.01, 1.09, 0.97) == "+5.0% (+1.0% to +9.0%)"
    assert change(1389.4, None, None, None) == "1,389 times"
    assert change(12.0, 9.0, 15.0, 0.97) == "12 times (+800.0% to 15 times)"
