"""Connection times from the intended start, from the generator's histograms.

TRex has no such histograms: there everything here is unknown, with that reason.
"""

import time
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
from hdrh.histogram import HdrHistogram

from stackcost.collect.engine import PROFILE, EngineClient
from stackcost.contracts.collector import Collector
from stackcost.contracts.counts import Second
from stackcost.contracts.latency import (
    HIGHEST_US,
    KINDS,
    PERCENTILES,
    SIGNIFICANT_FIGURES,
    TAIL,
    TLS_HANDSHAKE,
    percentile_us,
)
from stackcost.contracts.metrics import ENGINE_LATENCY
from stackcost.contracts.sample import Sample
from stackcost.contracts.window import Window

METHOD = "stackcost_get_latency"

# By template group (empty: none) and kind, in microseconds.
Histograms = dict[str, dict[str, HdrHistogram]]


def read_latency(client: EngineClient, profile: str = PROFILE) -> Histograms | None:
    """Times of all connections of the run so far; None if the generator does not report them."""
    if not client.supports(METHOD):
        return None
    read: Histograms = {}
    for template in client.call(METHOD, {"profile_id": profile})["templates"]:
        group = read.setdefault(template["group"] or "", {})
        first, *others = KINDS
        # Those of a template without TLS are in the answer too, and empty.
        tls = [TLS_HANDSHAKE] if template.get(TLS_HANDSHAKE, {}).get("count") else []
        for kind in (first, *tls, *others):
            group.setdefault(kind, _empty()).decode_and_add(template[kind]["hdr"])
    return read


def between(before: Histograms, after: Histograms) -> Histograms:
    """Times recorded after `before` was read, until `after` was; all, when a new run began."""
    return {
        group: {kind: _less(now, before.get(group, {}).get(kind)) for kind, now in kinds.items()}
        for group, kinds in after.items()
    }


def latency_between(
    before: Histograms | None, after: Histograms | None
) -> dict[str, dict[str, str]] | None:
    """The same, to be stored: HdrHistogram's V2 encoding in base64; None when unknown."""
    if before is None or after is None:
        return None
    return _stored(between(before, after))


def _stored(histograms: Histograms) -> dict[str, dict[str, str]]:
    return {
        group: {kind: histogram.encode().decode() for kind, histogram in kinds.items()}
        for group, kinds in histograms.items()
    }


def _empty() -> HdrHistogram:
    return HdrHistogram(1, HIGHEST_US, SIGNIFICANT_FIGURES)


def _less(after: HdrHistogram, before: HdrHistogram | None) -> HdrHistogram:
    """By whole arrays: value by value it takes 12 ms a second from the generator beside it."""
    if before is None:
        return after
    counts = _counts(after).astype(np.int64) - _counts(before).astype(np.int64)
    if counts.min() < 0:
        return after  # a new run began
    left = _empty()
    _counts(left)[:] = counts
    recorded = np.flatnonzero(counts)
    if recorded.size:
        above_zero = recorded[recorded > 0]
        lowest = int(above_zero[0]) if above_zero.size else -1
        left.set_internal_tacking_values(lowest, int(recorded[-1]), int(counts.sum()))
    return left


def _counts(histogram: HdrHistogram) -> npt.NDArray[np.uint64]:
    """The histogram's own counts, by index: what is written there is in the histogram."""
    counts: npt.NDArray[np.uint64] = np.ctypeslib.as_array(histogram.counts)
    return counts


class Latency(Collector):
    """Percentiles of the times recorded since the last reading; `take` has the times themselves."""

    name = "latency"
    metrics = (ENGINE_LATENCY,)

    def __init__(self, client: EngineClient, profile: str = PROFILE):
        self._client = client
        self._profile = profile
        self._last: Histograms = {}
        self._last_time = 0.0
        self._kept: list[tuple[float, float, Histograms]] = []

    def read(self) -> list[Sample]:
        """Percentiles by template group and kind; none if no connection reached this point."""
        read = read_latency(self._client, self._profile)
        now = time.monotonic()
        if read is None:
            return [ENGINE_LATENCY.unknown(now, f"this generator has no RPC method {METHOD}")]
        recent, self._last = between(self._last, read), read
        if self._last_time:
            self._kept.append((self._last_time, now, recent))
        self._last_time = now
        return list(_samples(now, recent))

    def take(self, window: Window) -> list[Second]:
        """What was read in a window that is over, to be stored; everything before is forgotten.

        Encoding takes some milliseconds a second, so it waits until the traffic has ended.
        """
        kept, self._kept = self._kept, []
        return [
            Second(start, end, _stored(histograms))
            for start, end, histograms in kept
            if window.start <= (start + end) / 2 <= window.end
        ]


def _samples(now: float, histograms: Histograms) -> Iterable[Sample]:
    for group, kinds in histograms.items():
        for kind, histogram in kinds.items():
            for name, percentile in PERCENTILES.items():
                value = percentile_us(histogram, percentile)
                if value is not None and name not in TAIL:  # a second has too few connections
                    labels = {"group": group, "kind": kind, "percentile": name}
                    yield ENGINE_LATENCY.sample(now, value / 1e6, **labels)
