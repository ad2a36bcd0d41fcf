"""Rows of the self-check: what is known, what was seen, and how far they may be apart."""

import pytest

from engine.bench.tools.selfcheck.count_settings import NO_GRO, table
from engine.bench.tools.selfcheck.counted import Connection, rows
from engine.bench.tools.selfcheck.overhead import (
    OVERHEAD_TOLERANCE,
    Added,
    Bookings,
    Piece,
    overhead_row,
)
from engine.bench.tools.selfcheck.row import row
from engine.bench.tools.selfcheck.rules import Send, Sends
from stackcost.contracts.window import Window


def test_a_value_of_samples_holds_within_its_error_over_all_rounds() -> None:
    within = row("made", "us", [10, 10], [12, 12], errors=[1.2, 1.2])
    assert within.holds(0.05)  # 20 % are 5 % and twice 0.85 of 10
    assert not row("made", "us", [10, 10], [12, 12], errors=[0.5, 0.5]).holds(0.05)
    assert not row("made", "us", [10, 10], [12, 12]).holds(0.05)


def test_the_median_of_many_rounds_is_less_sure_than_their_mean() -> None:
    rounds = row("made", "us", [10] * 5, [12] * 5, errors=[1.5] * 5)
    assert 1.25 * 1.5 / 5**0.5 < rounds.error < 1.26 * 1.5 / 5**0.5


def test_where_nothing_is_known_to_be_added_only_the_error_counts() -> None:
    assert row("made", "us", [0, 0, 0], [0.3, -0.2, 0.1], errors=[0.2, 0.2, 0.2]).holds()
    assert not row("made", "us", [0, 0, 0], [0.5, 0.6, 0.7], errors=[0.2, 0.2, 0.2]).holds()


WINDOW = Window(10.0, 20.0)


def sends(slowed: float = 1.0) -> Sends:
    """40 us through the rules and 8 us past them, by turns, from 5 s to 25 s."""
    return Sends(
        Send(5 + 0.1 * number, (40.0 if number % 2 else 8.0) * slowed, bool(number % 2))
        for number in range(201)
    )


def test_the_rules_take_what_packets_through_them_take_more() -> None:
    assert sends().within(WINDOW).cost == pytest.approx(32)


def test_a_neighbour_that_slows_the_core_makes_the_rules_dearer_alike() -> None:
    assert sends(slowed=1.5).within(WINDOW).cost == pytest.approx(48)


def test_only_those_of_the_window_are_asked() -> None:
    others = [Send(9.9, 100.0, True), Send(20.1, 100.0, True)] * 50
    assert Sends(sends() + others).within(WINDOW).cost == pytest.approx(32)
    assert sends().walks == 100 and sends().within(WINDOW).walks == 50


def test_one_that_was_held_up_is_left_out() -> None:
    assert Sends([*sends(), Send(15.0, 10_000.0, True)]).within(WINDOW).cost == pytest.approx(32)


LOW = Piece(cost=200, bookings=Bookings(switches=10, interruptions=4))
TASKS = Bookings(switches=0.2, interruptions=0)
FULL = Piece(cost=100, bookings=Bookings(switches=2, interruptions=1))


def test_each_round_says_what_the_bookings_of_a_connection_add() -> None:
    added = [
        Added(TASKS, Bookings(switches=0.2, interruptions=0.1)),
        Added(Bookings(switches=0.3, interruptions=0), Bookings(switches=0.2, interruptions=0.3)),
    ]
    row = overhead_row(50_000, LOW, FULL, added, 0.0)
    assert row.known == [100, 100]
    assert row.seen == pytest.approx([100.4, 100.6]), "a search books task switches alone"
    assert row.holds(OVERHEAD_TOLERANCE)
    assert (
        "+0.6% at the ceiling" in row.name
    )  # with softirqs, the median of 0.5 and 0.7 us more of 100
    assert "+1.4% at 3,000" in row.name  # of 2.4 and 3.2 us more of 200


def test_bookings_that_cost_too_much_do_not_hold() -> None:
    added = [Added(Bookings(switches=1, interruptions=0), TASKS)] * 4
    assert not overhead_row(50_000, LOW, FULL, added, 0.0).holds(OVERHEAD_TOLERANCE)


def test_what_the_probe_takes_of_the_core_is_in_it() -> None:
    none = Bookings(switches=0, interruptions=0)
    row = overhead_row(50_000, LOW, FULL, [Added(none, none)] * 4, 0.02)
    assert row.seen == pytest.approx([100 / 0.98] * 4) and "2.00% for the speed probe" in row.name
    assert not row.holds(OVERHEAD_TOLERANCE)


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


def test_a_setting_is_told_by_what_it_adds_to_the_first_row() -> None:
    first = Connection(100_000, 200, 10_000, 30_000)
    found = {
        "6.1": {
            "as it is": first,
            "nftables, 1 rule": Connection(101_000, 1200, 12_000, 30_000),
            NO_GRO: Connection(70_000, 200, 10_000, 50_000),
        },
        "6.12": {"as it is": first},
    }
    assert list(table(found))[2:] == [
        "| as it is | 100,000; 10,000 B | 100,000; 10,000 B |",
        "| nftables, 1 rule | +1,000 (+1.0%); +2,000 B |  |",
        f"| {NO_GRO} | -10,000 (-10.0%) |  |",
    ]
