"""When an event is over."""

from stackcost.contracts.event_settings import EventSettings
from stackcost.runs.loads.event import STEADY_S, works_again

SETTINGS = EventSettings(flood=1_200, flood_cps=300, hold_seconds=2, probe_cps=50)  # ends at 6 s
READINGS = [n / 2 for n in range(1, 120)]


def ended(unanswered: dict[float, float]) -> float | None:
    """When an event ends whose new connections were unanswered in these numbers."""
    readings = list(unanswered.items())
    ends = (at for n, (at, _) in enumerate(readings, 1) if works_again(readings[:n], SETTINGS))
    return next(ends, None)


def test_an_exhaustion_ends_once_new_connections_have_got_through_for_a_while() -> None:
    blocked = {at: 50 * max(0.0, min(at, 11) - 4) for at in READINGS}
    end = ended(blocked)
    assert end is not None and 11 <= end - STEADY_S + 1 <= 12


def test_it_does_not_end_before_the_flood_is_over_nor_while_nothing_gets_through() -> None:
    end = ended(dict.fromkeys(READINGS, 1.0))
    assert end is not None and end > SETTINGS.flood_ends + STEADY_S
    assert ended({at: 50 * at for at in READINGS}) is None
