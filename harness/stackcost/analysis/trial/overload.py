"""Whether a server was past its ceiling in a load trial, by what the trial itself saw.

There a connection waits and is sent again, and what it costs is the cost of a crowd: such a trial
is shown, and is in no headline.
"""

from stackcost.analysis.cost import flows
from stackcost.analysis.cost.core_time import engine_busy_share, has_peer, kernel_seconds
from stackcost.analysis.readings import Readings, sum_of
from stackcost.analysis.trial.thresholds import LOST_LIMIT, SERVER_BUSY_LIMIT
from stackcost.contracts.load import rate_words


def overload(readings: Readings, spins: bool = False) -> list[str]:
    """The signs that the server was past its ceiling; empty when it held the load.

    `spins`: it polls while it has nothing to do, so that a busy core
    is no sign. HTTP clients are asked for their server's ceiling, and so have none.
    """
    if readings.trial.traffic.unit == "request" or "sustain" not in readings.phases:
        return []
    return [*out_of_time(readings, spins), *_behind(readings), *_lost(readings)]


def out_of_time(readings: Readings, spins: bool = False) -> list[str]:
    """The cores on which the server had no time left; arguments as of `overload`."""
    if has_peer(readings):
        share = engine_busy_share(readings, "peer")
        over = share is not None and share > SERVER_BUSY_LIMIT
        return [f"its loop was busy {share:.0%} of the time"] if over else []
    if spins:
        return []
    length = readings.phases["sustain"].length
    found = []
    for cpu in readings.cpus:
        own = sum_of(
            kernel_seconds(readings.on([cpu])).values()
        )  # other programs are a disturbance
        if own is not None and own / length > SERVER_BUSY_LIMIT:
            found.append(f"it used {own / length:.0%} of core {cpu}")
    return found


def _behind(readings: Readings) -> list[str]:
    rate, offered = flows.completed_rate(readings), readings.trial.offered_cps
    if rate is None or flows.kept_up(rate, flows.asked_rate(readings)):
        return []
    return [f"completed {rate_words(rate)} connections/s of {rate_words(offered)} offered"]


def _lost(readings: Readings) -> list[str]:
    load = readings.trial.traffic
    attempted = load.counter("tcps_connattempt")
    counts = {
        "{:,} of {:,} connections failed": load.failed,
        "{:,} of {:,} connections had not ended at the end of the drain": load.cut_flows or 0,
        "{:,} segments retransmitted in {:,} connections": load.unexpectedly_retransmitted,
    }
    return [
        words.format(number, attempted)
        for words, number in counts.items()
        if number > LOST_LIMIT * attempted
    ]
