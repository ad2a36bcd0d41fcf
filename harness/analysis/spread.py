"""Repeated measurements and the ratio of two of them, with their spread.

A ratio's interval is a percentile bootstrap of the ratio of medians (Efron and Tibshirani, An
Introduction to the Bootstrap, chapter 13), as Kalibera and Jones ("Rigorous benchmarking in
reasonable time") ask: the interval belongs on the ratio that is claimed, not on its two parts.
"""

from collections.abc import Sequence

import numpy as np
from pydantic import BaseModel, ConfigDict
from scipy.stats import bootstrap

CONFIDENCE = 0.95
RESAMPLES = 9999
SEED = 20230317  # any fixed number: the same trials must give the same interval again


class Spread(BaseModel):
    """Every trial's value of one figure, and what they have in common.

    `median`, `minimum`, `maximum` over `values`. `low`, `high`: bootstrap interval of the median
    (for a ratio: of the ratio of medians) at 95 %. All are None where nothing is known; `reason`
    then says why.
    """

    model_config = ConfigDict(frozen=True)

    unit: str
    values: list[float] = []
    median: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str = ""


def spread(values: Sequence[float | None], unit: str, reason: str = "") -> Spread:
    """Spread of one figure over trials; unknown ones (None) are left out."""
    known = [value for value in values if value is not None]
    if not known:
        return Spread(unit=unit, reason=reason or "not measured in any trial")
    low, high = interval([known])
    return Spread(
        unit=unit,
        values=known,
        median=float(np.median(known)),
        minimum=min(known),
        maximum=max(known),
        low=low,
        high=high,
        reason=_why_no_interval(low, known),
    )


def ratio(above: Sequence[float | None], below: Sequence[float | None], reason: str = "") -> Spread:
    """How many times `above` is `below`: entry i of both was measured in the same round.

    The median is the ratio of the medians, minimum and maximum are those of the rounds' own
    ratios. A round in which one is unknown or `below` is not above zero is left out.
    """
    pairs = [(a, b) for a, b in zip(above, below, strict=True) if a is not None and b and b > 0]
    if not pairs:
        return Spread(unit="1", reason=reason or "no round in which both were measured")
    tops, bottoms = [a for a, _ in pairs], [b for _, b in pairs]
    ratios = [a / b for a, b in pairs]
    low, high = interval([tops, bottoms])
    return Spread(
        unit="1",
        values=ratios,
        median=float(np.median(tops) / np.median(bottoms)),
        minimum=min(ratios),
        maximum=max(ratios),
        low=low,
        high=high,
        reason=_why_no_interval(low, ratios),
    )


def interval(samples: Sequence[Sequence[float]]) -> tuple[float | None, float | None]:
    """Bootstrap interval of the median, or of the ratio of two medians; None of a single value."""
    if min(len(sample) for sample in samples) < 2:
        return None, None

    def statistic(*parts: np.ndarray, axis: int = -1) -> np.ndarray:
        medians = [np.median(part, axis=axis) for part in parts]
        return medians[0] if len(medians) == 1 else medians[0] / medians[1]

    result = bootstrap(
        samples,
        statistic,
        n_resamples=RESAMPLES,
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(SEED),
        vectorized=True,
    )
    return float(result.confidence_interval.low), float(result.confidence_interval.high)


def _why_no_interval(low: float | None, values: list[float]) -> str:
    return f"{len(values)} trial: no interval" if low is None else ""
