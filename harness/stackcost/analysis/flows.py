"""Connections of a phase of a trial: begun, and completed; those of a whole trial its load knows.

Counter names are TRex's (its `get_counter_desc`), as the generator reports them.
"""

from stackcost.analysis.readings import Readings
from stackcost.analysis.thresholds import KEPT_UP
from stackcost.contracts.load.base import ABORTED
from stackcost.contracts.metrics import SERVER_REQUESTS, TREX_COUNTER

GENERATORS_CLIENTS = {"engine": "generator", "side": "client"}


def completed_in(readings: Readings) -> float | None:
    """Connections opened, served and closed that ended inside a phase.

    None when not counted, and when none began there either: the phase missed the load, as that of a
    host may that is too slow to read in time, and what the server would have done is not known.
    Of HTTP clients requests, by the server's own count; where it keeps none by the clients', who
    tell it of all their time only.
    """
    if readings.trial.traffic.unit == "request":
        served = readings.growth(SERVER_REQUESTS)
        whole = readings.trial.traffic.counted
        if served is None and whole and readings.window:
            return whole.rate * readings.window.length
        return served
    if missed(readings):
        return None
    return readings.growth_of_difference(
        TREX_COUNTER, "counter", "tcps_closed", ABORTED, **GENERATORS_CLIENTS
    )


def attempted_in(readings: Readings) -> int | None:
    """Connections that began inside a phase; None when not counted, as of HTTP clients."""
    grown = _grown(readings, "tcps_connattempt")
    return None if grown is None else round(grown)


def why_no_connection(readings: Readings) -> str:
    """Why a phase has no figure per connection although they were counted; empty when it may have.

    Less than one is none: between two readings a counter is taken to grow evenly.
    """
    if missed(readings):
        return f"no connection fell inside the {readings.phase} window"
    count = completed_in(readings)
    if count is None or count >= 1:
        return ""
    return f"no {readings.trial.traffic.unit} ended in the {readings.phase} window"


def missed(readings: Readings) -> bool:
    """Whether no connection began in a phase, and none ended: it says nothing of the server."""
    counted = [_grown(readings, name) for name in ("tcps_connattempt", "tcps_closed")]
    return all(number is not None and number < 1 for number in counted)


def _grown(readings: Readings, counter: str) -> float | None:
    return readings.growth(TREX_COUNTER, counter=counter, **GENERATORS_CLIENTS)


def completed_rate(readings: Readings) -> float | None:
    """Completed connections per second of the phase."""
    count = completed_in(readings)
    return None if count is None else count / readings.phases[readings.phase].length


def begun_rate(readings: Readings) -> float | None:
    """Connections that began, per second of the phase."""
    count = attempted_in(readings)
    return None if count is None else count / readings.phases[readings.phase].length


def asked_rate(readings: Readings) -> float:
    """What a server was asked for in the phase, connections/s: the offered rate, or what the
    generator began where that is less. What was not begun, no server can complete.
    """
    offered, begun = readings.trial.offered_cps, begun_rate(readings)
    return offered if begun is None else min(offered, begun)


def kept_up(completed_cps: float, offered_cps: float) -> bool:
    """Whether the server completed what was offered, so that its ceiling lies higher."""
    return completed_cps >= KEPT_UP * offered_cps
