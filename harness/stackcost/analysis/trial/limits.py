"""Limits that a server ran into, and those of the clients' side, by what was read under load."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.thresholds import REACHED
from stackcost.contracts.counts import Limits
from stackcost.contracts.metrics import CONNTRACK_ENTRIES
from stackcost.contracts.words import count

Limit = Literal["open files", "server's own limit", "connection tracking", "client ports"]


class Reached(NamedTuple):
    """A limit that was used up, or nearly. `words`: a sentence with its figures."""

    limit: Limit
    words: str


def full_accept_queue(readings: Readings) -> str:
    """In words that no more connections could wait for the server to accept them; empty if not.

    By one look at the stack's own listeners, so that of a queue which is full at times it may say
    nothing. One that stays full is that of a server that accepts no more.
    """
    queue = (readings.trial.traffic.limits or Limits()).accept_queue
    if queue is None or not queue.limit or queue.now < REACHED * queue.limit:
        return ""
    return f"{queue.now:,} connections waited to be accepted; there is room for {queue.limit:,}"


def limits_reached(readings: Readings) -> Iterator[Reached]:
    """The limits that a trial reached; none where they were not read."""
    limits = readings.trial.traffic.limits or Limits()
    for role, files in limits.open_files.items():
        if files.now >= REACHED * files.limit:
            words = f"{role} had {files.now:,} open files; the limit is {files.limit:,}"
            yield Reached("open files", words)
    for reason, number in (limits.refused or {}).items():
        if number:
            words = (
                f"the server refused {count(number, 'connection')} because of a lack of {reason}"
            )
            yield Reached("server's own limit", words)
    most = limits.tracked_connections_limit
    tracked = [s.value for s in readings.samples(CONNTRACK_ENTRIES) if s.value is not None]
    if most and tracked and max(tracked) >= REACHED * most:
        words = f"netfilter tracked {max(tracked):,.0f} connections; the limit is {most:,}"
        yield Reached("connection tracking", words)
    without_port = readings.trial.traffic.counter("err_c_tuple_err")
    if without_port:
        words = f"{count(without_port, 'connection')} found no free client port"
        yield Reached("client ports", words)
