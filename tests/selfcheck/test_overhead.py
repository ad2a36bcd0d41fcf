"""What collectors add to a connection, from what a booking adds and how many a connection has."""

import pytest

from engine.bench.tools.selfcheck.overhead import (
    OVERHEAD_TOLERANCE,
    Added,
    Bookings,
    Piece,
    overhead_row,
)

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
