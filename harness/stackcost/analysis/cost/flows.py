"""Connections of a phase of a trial: begun, and completed; those of a whole trial its load knows.

Counter names are TRex's (its `get_counter_desc`), as the generator reports them.
"""

from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.thresholds import KEPT_UP
from stackcost.contracts.load.base import ATTEMPTED, CLOSED, NOT_COMPLETED, TLS_FAILED
from stackcost.contracts.metrics import SERVER_REQUESTS, TREX_COUNTER

GENERATORS_CLIENTS = {"engine": "generator", "side": "client"}


def completed_in(readings: Readings) -> float | None:
    """Connections opened, served and closed that ended inside a phase, as `completed_of` has it:
    what all figures per connection are divided by.

    None when not counted, and when none began there either: the phase missed the load, as that of a
    host may that is too slow to read in time, and what the server would have done is not known.
    Of HTTP clients requests that were answered well, by the server's own count; where it keeps
    none, or some failed, by the clients', who tell it of all their time only.
    """
    load = readings.trial.traffic
    if load.unit == "request":
        told = [each for each in (load.counted, load.counted_beside) if each]
        served = readings.growth(SERVER_REQUESTS)
        if told and readings.window and (served is None or load.failed):
            return sum(each.rate for each in told) * readings.window.length
        return served
    if missed(readings) or _why_not_counted(readings):
        return None
    grown = readings.growth_of_difference(
        TREX_COUNTER, "counter", CLOSED, NOT_COMPLETED, **GENERATORS_CLIENTS
    )
    return None if grown is None else max(0.0, grown)  # a failure is counted before its close


def _why_not_counted(readings: Readings) -> str:
    """Of runs in which failures in TLS were only read at the end of a trial."""
    failed = readings.trial.traffic.counter(TLS_FAILED)
    if not failed or readings.series(TREX_COUNTER, counter=TLS_FAILED, **GENERATORS_CLIENTS):
        return ""
    return (
        f"when connections failed in TLS was not read, only that {failed:,} did in the whole trial"
    )


def _why_not_whole(readings: Readings) -> str:
    """Of counters that were read, but whose growth in the phase is unknown."""
    requests = readings.trial.traffic.unit == "request"
    counted = readings.series(TREX_COUNTER, counter=CLOSED, **GENERATORS_CLIENTS)
    if requests or not readings.window or not counted:
        return ""
    return (
        f"how many connections ended in the {readings.phase} window is not known: a counter was "
        "reset in it, or not read at both of its edges"
    )


def per_connection(readings: Readings, amount: float | None) -> float | None:
    """An amount of a phase by the connections that completed there; None if one of them is unknown,
    or none completed.
    """
    count = completed_in(readings)
    return None if amount is None or count is None or count < 1 else amount / count


def attempted_in(readings: Readings) -> int | None:
    """Connections that began inside a phase; None when not counted, as of HTTP clients."""
    grown = _grown(readings, ATTEMPTED)
    return None if grown is None else round(grown)


def why_no_connection(readings: Readings) -> str:
    """Why a phase has no figure per connection; empty when it may have, or nothing was counted.

    Less than one is none: between two readings a counter is taken to grow evenly.
    """
    if missed(readings):
        return f"no connection fell inside the {readings.phase} window"
    count = completed_in(readings)
    if count is None:
        return _why_not_counted(readings) or _why_not_whole(readings)
    if count >= 1:
        return ""
    return f"no {readings.trial.traffic.unit} ended in the {readings.phase} window"


def missed(readings: Readings) -> bool:
    """Whether no connection began in a phase, and none ended: it says nothing of the server."""
    counted = [_grown(readings, name) for name in (ATTEMPTED, CLOSED)]
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
