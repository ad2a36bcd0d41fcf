"""The rules of a search's trials."""

import pytest

from stackcost.runs.loads.search import TIME_WAIT_S, answer_limit_s

TREX_BEGINS_AFTER_S = 0.11


@pytest.mark.parametrize(
    ("begins_s", "tells_schedule"), [(0.0, True), (TREX_BEGINS_AFTER_S, False)]
)
def test_what_a_generator_needs_to_begin_is_not_lost_by_the_server(
    begins_s: float, tells_schedule: bool
) -> None:
    last_ends = begins_s + 0.01 + TIME_WAIT_S  # answered in 10 ms
    assert last_ends < answer_limit_s("connections", tells_schedule)


def test_a_generator_that_tells_its_schedule_is_held_to_it() -> None:
    assert answer_limit_s("connections", True) < TIME_WAIT_S + TREX_BEGINS_AFTER_S
    assert answer_limit_s("requests", True) < TREX_BEGINS_AFTER_S
