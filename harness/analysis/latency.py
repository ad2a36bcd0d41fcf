"""Percentiles of connection times in the sustain window, over the rounds."""

from collections.abc import Sequence

from hdrh.histogram import HdrHistogram

from harness.analysis.spread import Spread, spread
from harness.collect.latency import KINDS, PERCENTILES, percentile_us
from harness.model import Trial

UNKNOWN_REASON = "this generator does not tell latency from the intended start"

# By template group (empty: none), kind and percentile.
Percentiles = dict[str, dict[str, dict[str, Spread]]]


def latency(trials: Sequence[Trial]) -> Percentiles:
    """Microseconds; each round's percentile is a value of its own. Unknown with a real TRex."""
    known = [stored for trial in trials if (stored := trial.load.get("latency"))]
    groups = dict.fromkeys(group for stored in known for group in stored) or {"": None}
    kinds = dict.fromkeys(kind for s in known for kinds in s.values() for kind in kinds)
    return {
        group: {kind: _over([s.get(group, {}).get(kind) for s in known]) for kind in kinds or KINDS}
        for group in groups
    }


def _over(texts: Sequence[str | None]) -> dict[str, Spread]:
    histograms = [HdrHistogram.decode(text) for text in texts if text]
    reason = "no connection got that far" if histograms else UNKNOWN_REASON
    return {
        name: spread([percentile_us(each, percentile) for each in histograms], "us", reason)
        for name, percentile in PERCENTILES.items()
    }
