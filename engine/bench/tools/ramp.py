"""Connections a second of two engines under a load that grows until they no longer keep up."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tools.ceiling import Pair
from tools.engine import NO_FAILURE, OVERLOAD_CPS, load, serving

STEP_CPS = 50_000  # more each second
CLOSED = 0.98  # of the connections opened in a second: with fewer, connections got stuck
BEHIND = 3  # seconds in a row that did not keep up end the ramp
RAMP = f"of a load that grows by {STEP_CPS:,} connections/s each second"
NONE_LOST = (
    f"{RAMP}: the best second that opened and closed what was offered, to {1 - CLOSED:.0%}, before "
    "a flow failed or a segment was sent twice"
)
LOSSES_ALLOWED = (
    f"{RAMP}: the best second that closed {CLOSED:.0%} of what it opened, whatever failed; at most "
    "what was offered"
)


@dataclass(frozen=True, slots=True)
class Second:
    """What a second of the ramp brought, in connections/s; `failures`: of both ends, so far."""

    offered: float
    opened: float
    closed: float
    failures: int

    @property
    def keeps_up(self) -> bool:
        """Whether the connections offered were opened and closed."""
        return min(self.opened, self.closed) >= CLOSED * self.offered

    @property
    def catches_up(self) -> bool:
        """Whether it made good what a second before had left: that is no speed of its own."""
        return max(self.opened, self.closed) * CLOSED > self.offered


def ramp(pair: Pair, most: float = OVERLOAD_CPS) -> list[Second]:
    """Every second of a ramp up to `most` connections/s, or to where the pair falls behind."""
    seconds: list[Second] = []
    behind = 0
    load(pair.client, pair.profile, pair.tunables)
    with serving(pair.server, pair.profile, pair.tunables):
        offered = float(STEP_CPS)
        pair.client.client.start(offered)
        try:
            now = _read(pair)
            while offered <= most and behind < BEHIND:
                before = now
                time.sleep(1)
                now = _read(pair)
                seconds.append(_between(before, now, offered))
                behind = 0 if seconds[-1].keeps_up else behind + 1
                offered += STEP_CPS
                pair.client.client.update(offered)
        finally:
            pair.client.client.stop()
    return seconds


def none_lost(seconds: Sequence[Second]) -> float:
    """The most connections/s closed in a second that keeps up, before a failure; 0: in none."""
    kept = (s.closed for s in seconds if s.keeps_up and not s.catches_up and not s.failures)
    return max(kept, default=0.0)


def losses_allowed(seconds: Sequence[Second]) -> float:
    """The most connections/s closed in a second that closed as many as it opened; 0: none did."""
    kept = (min(s.closed, s.offered) for s in seconds if s.closed >= CLOSED * s.opened)
    return max(kept, default=0.0)


class _Counts(NamedTuple):
    """Connections that the client opened and closed so far, at a time; failures of both ends."""

    time: float
    opened: int
    closed: int
    failures: int


def _between(before: _Counts, now: _Counts, offered: float) -> Second:
    length = now.time - before.time
    opened, closed = now.opened - before.opened, now.closed - before.closed
    return Second(offered, opened / length, closed / length, now.failures)


def _read(pair: Pair) -> _Counts:
    """Each engine is asked once: who asks takes time of the data threads' cores."""
    client, now = pair.client.client.stats()["traffic"]["client"], time.monotonic()
    server = pair.server.client.stats()["traffic"]["server"]
    failures = sum(side[counter] for side in (client, server) for counter in NO_FAILURE)
    return _Counts(now, client["tcps_connattempt"], client["tcps_closed"], failures)
