"""How far the monotonic clock of another host is ahead of this one."""

import time
from collections.abc import Callable, Mapping

from stackcost.contracts.counts import Clock

EXCHANGES = 8


def compare_clocks(
    remote: Callable[[], float], local: Callable[[], float] = time.monotonic
) -> Clock:
    """The offset by the exchange with the shortest round trip (as RFC 5905 section 8 has it).

    The other host answers with one reading, which stands for its time of receipt and of sending:
    it was taken at some time of the round trip, so half of that is the largest error.
    """
    exchanges = []
    for _ in range(EXCHANGES):
        asked = local()
        answer = remote()
        answered = local()
        exchanges.append((answered - asked, answer - (asked + answered) / 2))
    round_trip_s, offset_s = min(exchanges)
    return Clock(offset_s=offset_s, error_s=round_trip_s / 2)


def over_a_trial(before: Mapping[str, Clock], after: Mapping[str, Clock]) -> dict[str, Clock]:
    """The clocks of hosts as a trial's samples were moved by, with the errors until its end."""
    return {host: _until(clock, after[host]) for host, clock in before.items()}


def _until(before: Clock, after: Clock) -> Clock:
    """What the clocks have drifted apart meanwhile adds to the error."""
    drift_s = abs(after.offset_s - before.offset_s)
    error_s = max(before.error_s, after.error_s) + drift_s
    return Clock(offset_s=before.offset_s, error_s=error_s)
