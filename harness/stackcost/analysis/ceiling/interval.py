"""The interval of a ceiling, from all trials of its search that were as long as the last ones.

Trials of one server scatter: a load below its ceiling loses something in some of them, and a load
above it loses nothing in others. So two bounds, each from a few trials, often have the ceiling
outside. Here a load is held in a trial with the probability of a normal distribution around the
ceiling. Its ceiling and deviation are not known; how well each pair of them explains the trials is
summed over a grid, as for thresholds of perception (Watson and Pelli, QUEST, 1983).
`tests/search/test_coverage.py` counts how often such an interval has the true ceiling in it.
"""

from collections.abc import Sequence
from math import log
from typing import NamedTuple

import numpy as np

COVERAGE = 0.9  # of repeated searches, as simulated ones show: the stated one
# Within the model. More than is stated, because drifts and neighbours are not in the model.
WITHIN_MODEL = 0.95
LEAST_DEVIATION, MOST_DEVIATION = 0.003, 0.1  # of trials, as a share of the ceiling
DEVIATIONS = 16
RESOLUTION = 0.002  # of the grid of ceilings, as a share
BEYOND = 1.25  # the ceiling is looked for up to this factor beyond what was tried


class Tried(NamedTuple):
    """A load that was tried, and whether the trial held it."""

    load: float
    held: bool


class Interval(NamedTuple):
    """From `low` to `high`, in the unit of the load."""

    low: float
    high: float


def interval_of(tried: Sequence[Tried]) -> Interval | None:
    """The interval of the load that half of the trials hold.

    None if no load was held, or none was not: then nothing limits it at one end.
    """
    from scipy.special import log_ndtr  # takes a while, which a stored answer does not need

    held = [each.load for each in tried if each.held]
    lost = [each.load for each in tried if not each.held]
    if not held or not lost:
        return None
    ends = min(lost), max(held)
    first, last = min(ends) / BEYOND, max(ends) * BEYOND
    ceilings = np.geomspace(first, last, round(log(last / first) / RESOLUTION) + 1)
    deviations = np.geomspace(LEAST_DEVIATION, MOST_DEVIATION, DEVIATIONS)
    fit = np.zeros((len(ceilings), DEVIATIONS))
    for load, was_held in tried:
        distance = (ceilings[:, np.newaxis] / load - 1) / deviations
        fit += log_ndtr(distance if was_held else -distance)
    likely = np.cumsum(np.exp(fit - fit.max()).sum(axis=1))
    outside = (1 - WITHIN_MODEL) / 2 * likely[-1]
    low, high = np.searchsorted(likely, (outside, likely[-1] - outside))
    return Interval(float(ceilings[low]), float(ceilings[high]))
