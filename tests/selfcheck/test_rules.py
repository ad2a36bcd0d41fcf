"""What rules take of a packet, from packets that met them and packets that did not."""

import pytest

from engine.bench.tools.selfcheck.rules import Send, Sends
from stackcost.contracts.window import Window

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
