"""How much whole measurements of one system differ from each other.

The trials of a run are of one hour, one start of the machine, one state of its neighbours. They do
not tell how far the next run of the same system will be from this one, and more of them do not help
(Kalibera and Jones, Rigorous Benchmarking in Reasonable Time, ISMM 2013, section 6).
"""

import math
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from statistics import fmean, variance
from typing import NamedTuple

from stackcost.analysis.trial.thresholds import BETWEEN_MEASUREMENTS, HISTORY_NEEDED, POWER, RATE


class BetweenRuns(NamedTuple):
    """`deviation`: of a measurement, a share of its value. `freedom`: degrees of freedom with which
    it is known; 0: it is assumed (`BETWEEN_MEASUREMENTS`). `known_by`: from what, in words.
    `runs`: measurements of A and of B, the means of which are compared. `not_in_turn`: several runs
    were made, all of A before all of B or after them, so that nothing tells how far they are apart.
    """

    deviation: float = BETWEEN_MEASUREMENTS
    freedom: float = 0
    known_by: str = f"assumed: {BETWEEN_MEASUREMENTS:.0%} each"
    runs: tuple[int, int] = (1, 1)
    not_in_turn: bool = False

    @property
    def apart(self) -> float:
        """The share by which A and B of one system differ in all but `RATE` of cases."""
        return -math.expm1(-self._log_apart(1 - RATE / 2))

    @property
    def detectable(self) -> float:
        """The ratio, less 1, that is beyond `apart` in the share `POWER` of cases."""
        return math.expm1(self._log_apart(1 - RATE / 2) + self._log_apart(POWER))

    def _log_apart(self, share: float) -> float:
        """The quantile of the logarithm of the ratio of A and B of one system."""
        from scipy.stats import norm, t  # takes a second, which a stored answer does not need

        deviations = t(self.freedom) if self.freedom else norm
        a, b = self.runs
        return float(deviations.ppf(share)) * math.sqrt(1 / a + 1 / b) * self.deviation

    @property
    def words(self) -> str:
        """How far apart, and how that is known."""
        return f"{self.apart:.1%} ({self.known_by})"


ASSUMED = BetweenRuns()


def of_history(values: Sequence[float]) -> BetweenRuns:
    """From the values of measurements in their order; assumed if there are too few.

    From neighbouring ones, so that a change of the system counts once. A measurement is in two
    differences, so n of them have fewer degrees of freedom than n - 1 (von Neumann and others, The
    mean square successive difference, Annals of Mathematical Statistics, 1941).
    """
    n = len(values)
    if n < HISTORY_NEEDED:
        return ASSUMED
    steps = [math.log(after / before) for before, after in pairwise(values)]
    deviation = math.sqrt(fmean(step**2 for step in steps) / 2)
    freedom = 2 * (n - 1) ** 2 / (3 * n - 4)
    return BetweenRuns(deviation, freedom, f"by {n} measurements of the history")


def of_runs(a: Sequence[float], b: Sequence[float]) -> BetweenRuns:
    """From the values of the blocks of runs of both sides (`blocks_of`), which may differ; assumed
    if there are too few.
    """
    runs = len(a), len(b)
    freedom = sum(runs) - 2
    if freedom < HISTORY_NEEDED - 1:
        return ASSUMED._replace(runs=runs)
    squares = sum(variance(map(math.log, side)) * (len(side) - 1) for side in (a, b) if side[1:])
    known_by = f"by the {runs[0]} and {runs[1]} runs"
    return BetweenRuns(math.sqrt(squares / freedom), freedom, known_by, runs)


def blocks_of(a: Sequence[datetime], b: Sequence[datetime]) -> tuple[list[int], list[int]]:
    """The block of each run of A and of B, by when they began.

    Runs of one side between which none of the other was made are a block: they share what the
    machine was like at that time, so they tell no more than one run.
    """
    runs = sorted(
        (began, at, side) for side, times in enumerate((a, b)) for at, began in enumerate(times)
    )
    found = [0] * len(a), [0] * len(b)
    block, before = 0, runs[0][2]
    for _, at, side in runs:
        block += side != before
        found[side][at] = block
        before = side
    return found
