"""Percentiles of connection times in the sustain window, over the rounds."""

from collections.abc import Sequence

from hdrh.histogram import HdrHistogram

from stackcost.analysis.spread import Spread, spread
from stackcost.analysis.traffic import histograms
from stackcost.contracts.latency import KINDS, PERCENTILES, percentile_us
from stackcost.contracts.trial import Trial

UNKNOWN_REASON = "this generator does not report latency from the intended start"

# By template group (empty: none), kind and percentile.
Percentiles = dict[str, dict[str, dict[str, Spread]]]


def latency(trials: Sequence[Trial]) -> Percentiles:
    """Microseconds; each round's percentile is a value of its own. Unknown with a real TRex."""
    stored = [histograms(trial) for trial in trials]
    rounds = [trial.round for trial in trials]
    groups = dict.fromkeys(group for each in stored for group in each) or {"": None}
    kinds = dict.fromkeys(kind for s in stored for kinds in s.values() for kind in kinds)
    return {
        group: {
            kind: _over([each.get(group, {}).get(kind) for each in stored], rounds)
            for kind in kinds or KINDS
        }
        for group in groups
    }


def timed(trials: Sequence[Trial]) -> dict[str, dict[str, int]]:
    """Number of connections of all rounds in the percentiles, by template group and kind.

    Connections that did not get that far are in no percentile. So these are of the rest.
    """
    found: dict[str, dict[str, int]] = {}
    for trial in trials:
        for group, kinds in histograms(trial).items():
            for kind, text in kinds.items():
                own = found.setdefault(group, {})
                own[kind] = own.get(kind, 0) + HdrHistogram.decode(text).get_total_count()
    return found


def _over(texts: Sequence[str | None], rounds: Sequence[int]) -> dict[str, Spread]:
    histograms = [HdrHistogram.decode(text) if text else None for text in texts]
    reason = "no connection reached this point" if any(histograms) else UNKNOWN_REASON
    return {
        name: spread(
            [percentile_us(each, percentile) if each else None for each in histograms],
            "us",
            reason,
            rounds,
        )
        for name, percentile in PERCENTILES.items()
    }
