"""Rows of known answers hold when the counts are what they have to be, and are wrong otherwise."""

import pytest

from engine.bench.tools.selfcheck.counted import rows

RIGHT = {
    "loop 1000000": 2_001_000.0,
    "loop 2000000": 4_001_000.0,
    "copy bytes": 32_768.0,
    **{f"getppid {n}000": 5_000.0 + n * 90_000 for n in (1, 2, 3)},
    **{f"{n} rules, netfilter": 200.0 + n * 40 for n in (0, 100, 1000)},
    **{f"{n} rules, all": 100_200.0 + n * 40 for n in (0, 100, 1000)},
}


def wrong(*boots: dict[str, float]) -> list[str]:
    return [row.what for row in rows(boots) if not row.holds]


def test_known_answers_hold() -> None:
    assert wrong(RIGHT, RIGHT) == []


@pytest.mark.parametrize(
    ("what", "by", "told"),
    [
        ("loop 2000000", 1, "loop of two instructions"),
        ("copy bytes", 1, "bytes of a string instruction"),
        ("getppid 3000", 1, "getppid"),
        ("1000 rules, netfilter", 1000, "netfilter"),
        ("1000 rules, all", 10_000, "everything else stays"),
    ],
)
def test_a_wrong_count_is_seen(what: str, by: float, told: str) -> None:
    found = wrong(RIGHT | {what: RIGHT[what] + by})
    assert any(told in each for each in found)


def test_two_boots_that_differ_are_seen() -> None:
    assert wrong(RIGHT, RIGHT | {"0 rules, all": 102_000.0})
