"""Times of many requests: values and their counts, percentiles, and histograms."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from hdrh.histogram import HdrHistogram

from stackcost.contracts.latency import HIGHEST_US, SIGNIFICANT_FIGURES

STEP = 1.004  # ratio between bins: half of the histogram's resolution


@dataclass(frozen=True, slots=True)
class Times:
    """Microseconds, and the number of requests with each value; both have the same length."""

    microseconds: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, microseconds: np.ndarray) -> "Times":
        """Of single requests."""
        return cls(microseconds, np.ones(len(microseconds), dtype=np.int64))

    def percentile(self, percent: float) -> float:
        """The percentile in microseconds; there must be at least one request."""
        order = np.argsort(self.microseconds)
        reached = np.cumsum(self.counts[order])
        at = np.searchsorted(reached, percent / 100 * reached[-1])
        return float(self.microseconds[order][min(at, len(order) - 1)])

    def share_above(self, microseconds: float) -> float:
        """Share (0 to 1) of the requests that took longer."""
        return float(self.counts[self.microseconds > microseconds].sum() / self.counts.sum())


def whole_numbers(log: Path, columns: int) -> np.ndarray:
    """A client's log of requests, one a row; no rows if it is empty."""
    if not log.stat().st_size:  # of which numpy warns
        return np.empty((0, columns), dtype=np.int64)
    return np.loadtxt(log, dtype=np.int64, ndmin=2)


def encoded(parts: Sequence[Times]) -> str:
    """All times as one HdrHistogram, in its V2 encoding in base64."""
    histogram = HdrHistogram(1, HIGHEST_US, SIGNIFICANT_FIGURES)
    values = np.concatenate([part.microseconds for part in parts])
    counts = np.concatenate([part.counts for part in parts])
    if len(values):
        values = np.clip(values, 1, HIGHEST_US)
        bins, where = np.unique(np.round(np.log(values) / np.log(STEP)), return_inverse=True)
        in_bins = np.bincount(where, weights=counts)
        for value, count in zip(np.exp(bins * np.log(STEP)), in_bins, strict=True):
            histogram.record_value(max(1, round(value)), round(count))
    return str(histogram.encode().decode())
