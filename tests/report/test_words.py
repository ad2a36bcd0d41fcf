import pytest

from harness.analysis.spread import Spread, ratio, spread
from harness.report.words import count, factor, number, pair, share, size, with_range


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
    text = factor(ratio([60.0, 62.0, 64.0], [10.0, 10.0, 10.0]))
    assert text.startswith("6.20x (range 6-6.40, 95 % interval 6-6.40, 3 rounds)")
    assert factor(ratio([60.0], [10.0])) == "6x (1 trial: no interval)"
    assert factor(Spread(unit="1", reason="no round")) == "n/a: no round"


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
