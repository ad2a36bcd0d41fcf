"""How much whole measurements of one system differ from each other.

The trials of a run are of one hour, one start of the machine, one state of its neighbours. They do
not tell how far the next run of the same system will be from this one, and more of them do not help
(Kalibera and Jones, Rigorous Benchmarking in Reasonable Time, ISMM 2013, section 6).
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

from stackcost.analysis.thresholds import BETWEEN_MEASUREMENTS, HISTORY_NEEDED, POWER, RATE


class Between(NamedTuple):
    """`deviation`: of a measurement, a share of its value. `measurements`: from which it is known;
    0: it is assumed (`BETWEEN_MEASUREMENTS`).
    """

    deviation: float = BETWEEN_MEASUREMENTS
    measurements: int = 0

    @property
    def apart(self) -> float:
        """The share by which two measurements of one system differ in all but `RATE` of cases."""
        return -math.expm1(-self._log_apart(1 - RATE / 2))

    @property
    def detectable(self) -> float:
        """The ratio, less 1, that is beyond `apart` in the share `POWER` of two measurements."""
        return math.expm1(self._log_apart(1 - RATE / 2) + self._log_apart(POWER))

    def _log_apart(self, share: float) -> float:
        """The quantile of the logarithm of the ratio of two measurements of one system."""
        from scipy.stats import norm, t  # takes a second, which a stored answer does not need

        deviations = t(self.measurements - 1) if self.measurements else norm
        return float(deviations.ppf(share)) * math.sqrt(2) * self.deviation

    @property
    def words(self) -> str:
        """How far apart, and how that is known."""
        known = (
            f"by {self.measurements} measurements of the history"
            if self.measurements
            else f"assumed: {self.deviation:.0%} each"
        )
        return f"{self.apart:.1%} ({known})"


ASSUMED = Between()


def of_history(values: Sequence[float]) -> Between:
    """From the values of measurements in their order; assumed if there are too few.

    From neighbouring ones, so that a change of the system counts once.
    """
    if len(values) < HISTORY_NEEDED:
        return ASSUMED
    steps = [math.log(after / before) for before, after in pairwise(values)]
    return Between(math.sqrt(fmean(step**2 for step in steps) / 2), len(values))
