"""Percentiles of connection times in the sustain window."""

from collections.abc import Sequence

from hdrh.histogram import HdrHistogram

from stackcost.analysis.figures.figure import Figure, Values
from stackcost.analysis.figures.groups import LoadTrials
from stackcost.analysis.trial.thresholds import BEYOND_PERCENTILE
from stackcost.contracts.latency import KINDS, PERCENTILES, TAIL, percentile_us
from stackcost.contracts.trial import Trial

UNKNOWN_REASON = "this generator does not report latency from the intended start"
OF_AB = "ab tells whole percentiles up to the 99th, and the longest time"
NONE_REACHED = "no connection reached this point"


def timed(trials: Sequence[Trial]) -> dict[str, dict[str, int]]:
    """Number of connections of all rounds in the percentiles, by template group and kind.

    Connections that did not get that far are in no percentile. So these are of the rest.
    """
    found: dict[str, dict[str, int]] = {}
    for trial in trials:
        for group, kinds in (trial.traffic.latency or {}).items():
            for kind, text in kinds.items():
                own = found.setdefault(group, {})
                own[kind] = own.get(kind, 0) + HdrHistogram.decode(text).get_total_count()
    return found


def _percentiles(loads: LoadTrials) -> dict[str, Values]:
    """Of each template group (not named: none) and kind of time; unknown with a real TRex."""
    stored = [readings.trial.traffic.latency or {} for readings in loads.trials]
    groups = dict.fromkeys(group for each in stored for group in each) or {"": None}
    kinds = dict.fromkeys(kind for s in stored for kinds in s.values() for kind in kinds) or KINDS
    found = {}
    for group in groups:
        for kind in kinds:
            texts = [each.get(group, {}).get(kind) for each in stored]
            read = [HdrHistogram.decode(text) if text else None for text in texts]
            reason = NONE_REACHED if any(read) else UNKNOWN_REASON
            for name in PERCENTILES:
                values = [_told(each, name) if each else None for each in read]
                why = too_few(name) if name in TAIL and any(read) else reason
                if name in TAIL and kind == "connection" and _by_ab(loads):
                    values, why = [None] * len(read), OF_AB
                full = f"{group}.{kind}.{name}" if group else f"{kind}.{name}"
                found[full] = Values(values, loads.rounds, why)
    return found


def _by_ab(loads: LoadTrials) -> bool:
    asked = (readings.trial.traffic.http_settings for readings in loads.trials)
    return any(each is not None and each.program == "ab" for each in asked)


def needed(name: str) -> int:
    """Connections that a trial has to have for this percentile of the tail to be told."""
    return round(BEYOND_PERCENTILE / (1 - PERCENTILES[name] / 100))


def too_few(name: str) -> str:
    """Why a percentile of the tail is not shown."""
    return f"fewer than {needed(name):,} connections in a trial, {BEYOND_PERCENTILE} beyond it"


def _told(histogram: HdrHistogram, name: str) -> float | None:
    if name in TAIL and histogram.get_total_count() < needed(name):
        return None
    return percentile_us(histogram, PERCENTILES[name])


LATENCY = Figure[LoadTrials](
    name="latency",
    unit="us",
    table="latency",
    definition="time from a connection's intended start by the schedule to the SYN-ACK (connect), "
    "the end of the TLS handshake (tls_handshake), the first payload (first_byte) and the end of "
    "the client's program (completion); of HTTP clients of a request or a connection. Percentiles "
    "of connections that reached this point in the sustain window; p99.99 and p99.999 of trials "
    "with ten connections or more beyond them. A template group's name comes before the kind",
    source="stackcost_get_latency of the generator, histograms of two significant figures; the "
    "clients' own output",
    of="load",
    compute=_percentiles,
)
