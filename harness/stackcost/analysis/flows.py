"""Connections of a phase of a trial: begun, and completed; those of a whole trial its load knows.

Counter names are TRex's (its `get_counter_desc`), as the generator reports them.
"""

from stackcost.analysis.readings import Readings
from stackcost.analysis.thresholds import KEPT_UP
from stackcost.contracts.load.base import ABORTED

GENERATORS_CLIENTS = {"engine": "generator", "side": "client"}


def completed_in(seen: Readings) -> float | None:
    """Connections opened, served and closed that ended inside a phase.

    None when not counted, and when none began there either: the phase missed the load, as that of a
    host may that is too slow to read in time, and what the server would have done is not known.
    Of HTTP clients requests, by the server's own count; where it keeps none by the clients', who
    tell it of all their time only.
    """
    if seen.trial.traffic.unit == "request":
        served = seen.growth("server.requests")
        whole = seen.trial.traffic.counted
        if served is None and whole and seen.window:
            return whole.rate * seen.window.length
        return served
    if missed(seen):
        return None
    return seen.growth_of_difference(
        "trex.counter", "counter", "tcps_closed", ABORTED, **GENERATORS_CLIENTS
    )


def attempted_in(seen: Readings) -> int | None:
    """Connections that began inside a phase; None when not counted, as of HTTP clients."""
    grown = _grown(seen, "tcps_connattempt")
    return None if grown is None else round(grown)


def why_no_connection(seen: Readings) -> str:
    """Why a phase has no figure per connection although they were counted; empty when it may have.

    Less than one is none: between two readings a counter is taken to grow evenly.
    """
    if missed(seen):
        return f"no connection fell inside the {seen.phase} window"
    count = completed_in(seen)
    if count is None or count >= 1:
        return ""
    return f"no {seen.trial.traffic.unit} ended in the {seen.phase} window"


def missed(seen: Readings) -> bool:
    """Whether no connection began in a phase, and none ended: it says nothing of the server."""
    counted = [_grown(seen, name) for name in ("tcps_connattempt", "tcps_closed")]
    return all(number is not None and number < 1 for number in counted)


def _grown(seen: Readings, counter: str) -> float | None:
    return seen.growth("trex.counter", counter=counter, **GENERATORS_CLIENTS)


def completed_rate(seen: Readings) -> float | None:
    """The same per second of the phase."""
    count = completed_in(seen)
    return None if count is None else count / seen.phases[seen.phase].length


def begun_rate(seen: Readings) -> float | None:
    """Connections that began, per second of the phase."""
    count = attempted_in(seen)
    return None if count is None else count / seen.phases[seen.phase].length


def asked_rate(seen: Readings) -> float:
    """What a server was asked for in the phase, connections/s: the offered rate, or what the
    generator began where that is less. What was not begun, no server can complete.
    """
    offered, begun = seen.trial.offered_cps, begun_rate(seen)
    return offered if begun is None else min(offered, begun)


def kept_up(completed_cps: float, offered_cps: float) -> bool:
    """Whether the server completed what was offered, so that its ceiling lies higher."""
    return completed_cps >= KEPT_UP * offered_cps
