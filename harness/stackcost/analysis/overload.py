"""Whether a server was past its ceiling in a load trial, by what the trial itself saw.

There a connection waits and is sent again, and what it costs is the cost of a crowd: such a trial
is shown, and is in no headline.
"""

from stackcost.analysis import flows
from stackcost.analysis.core_time import engine_busy_share, has_peer, kernel_seconds, sum_of
from stackcost.analysis.readings import Readings
from stackcost.analysis.thresholds import LOST_LIMIT, SERVER_BUSY_LIMIT
from stackcost.contracts.load import rate_words


def overload(seen: Readings, spins: bool = False) -> list[str]:
    """The signs that the server was past its ceiling; empty when it held the load.

    `spins`: it polls while it has nothing to do, so that a busy core
    is no sign. HTTP clients are asked for their server's ceiling, and so have none.
    """
    if seen.trial.traffic.unit == "request" or "sustain" not in seen.phases:
        return []
    return [*out_of_time(seen, spins), *_behind(seen), *_lost(seen)]


def out_of_time(seen: Readings, spins: bool = False) -> list[str]:
    """The cores on which the server had no time left; arguments as of `overload`."""
    if has_peer(seen):
        share = engine_busy_share(seen, "peer")
        over = share is not None and share > SERVER_BUSY_LIMIT
        return [f"its loop was busy {share:.0%} of the time"] if over else []
    if spins:
        return []
    length = seen.phases["sustain"].length
    found = []
    for cpu in seen.cpus:
        own = sum_of(kernel_seconds(seen.on([cpu])).values())  # other programs are a disturbance
        if own is not None and own / length > SERVER_BUSY_LIMIT:
            found.append(f"it used {own / length:.0%} of core {cpu}")
    return found


def _behind(seen: Readings) -> list[str]:
    rate, offered = flows.completed_rate(seen), seen.trial.offered_cps
    if rate is None or flows.kept_up(rate, flows.asked_rate(seen)):
        return []
    return [f"completed {rate_words(rate)} connections/s of {rate_words(offered)} offered"]


def _lost(seen: Readings) -> list[str]:
    load = seen.trial.traffic
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
