"""RFC 9411's criteria for accepting a result, held against the trials of one load.

Section 7.2.3.3, of connections per second; those of the other tests are the same without the last,
or with another limit. docs/rfc9411.md says what of the document is done here, and what is not.
"""

from collections.abc import Sequence
from itertools import pairwise

from stackcost.analysis.readings import Readings
from stackcost.analysis.steadiness import CLOSEST_S, apart, counter_series
from stackcost.analysis.trial.checks import Check
from stackcost.contracts.metrics import TREX_COUNTER
from stackcost.contracts.window import Window

MOST_FAILED = 0.00001  # of attempted transactions; as many connections may end by a reset
RATE_DEVIATION = 0.05
CONCURRENT_DEVIATION = 0.10
FEWEST = 2  # values of a phase, below which nothing is said of its changes


def acceptance(trials: Sequence[Readings]) -> list[Check]:
    """One check for each criterion, over the sustain phases of all rounds that reached it.

    One that is not known is None with a reason: a phase may be too short for a series of rates.
    """
    whole = [readings for readings in trials if "sustain" in readings.phases]
    return [
        _failed(whole),
        _deviation("rate of ended connections", RATE_DEVIATION, [_rates(t) for t in whole]),
        _deviation("open connections", CONCURRENT_DEVIATION, [_open(t) for t in whole]),
    ]


def _failed(trials: Sequence[Readings]) -> Check:
    """A connection is one transaction; one that a reset ended has failed, so both limits are one.

    Of fewer than 100,000 connections the limit lets none fail.
    """
    attempted = sum(readings.trial.traffic.counter("tcps_connattempt") for readings in trials)
    failed = sum(readings.trial.traffic.failed for readings in trials)
    allowed = int(MOST_FAILED * attempted)
    return Check(
        name="failed transactions and connections reset",
        holds=failed <= allowed if attempted else None,
        wanted=f"at most {allowed:,} of {attempted:,}",
        seen=f"{failed:,}",
        reason="" if attempted else "no connection was attempted",
    )


def _deviation(what: str, limit: float, series: Sequence[Sequence[float]]) -> Check:
    """The farthest that any reading is from its own phase's mean."""
    name, wanted = f"deviation of the {what}", f"< {limit:.0%}"
    farthest = [
        max(abs(value / mean - 1) for value in values)
        for values in series
        if len(values) >= FEWEST and (mean := sum(values) / len(values))
    ]
    if len(farthest) < len(series) or not farthest:
        reason = "the sustain phase has too few readings"
        return Check(name=name, holds=None, wanted=wanted, seen="unknown", reason=reason)
    return Check(name=name, holds=max(farthest) < limit, wanted=wanted, seen=f"{max(farthest):.1%}")


def _rates(readings: Readings) -> list[float]:
    """Connections that ended, per second, between each two readings."""
    series = apart(
        counter_series(readings.samples(TREX_COUNTER), _sustain(readings), "tcps_closed")
    )
    return [(b - a) / (then - now) for (now, a), (then, b) in pairwise(series)]


def _open(readings: Readings) -> list[float]:
    """Connections that were attempted and had not ended, at each reading."""
    sustain = _sustain(readings)
    samples = readings.samples(TREX_COUNTER)
    ended = dict(counter_series(samples, sustain, "tcps_closed"))
    attempted = counter_series(samples, sustain, "tcps_connattempt")
    return [begun - ended[at] for at, begun in attempted if at in ended]


def _sustain(readings: Readings) -> Window:
    """With the readings at its edges, which lie inside it."""
    window = readings.phases["sustain"]
    return Window(window.start - CLOSEST_S, window.end + CLOSEST_S)
