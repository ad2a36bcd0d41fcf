"""Decides during a run whether a trial is repeated.

Every other judgement about a trial is made when the run is read.
"""

from collections.abc import Collection, Sequence

from stackcost.analysis.ceiling.stored import needs_repeat
from stackcost.analysis.flags import disturbances
from stackcost.analysis.guest import why_no_time
from stackcost.analysis.readings import Readings
from stackcost.campaign.turn import Purpose
from stackcost.contracts.load import SearchStep
from stackcost.contracts.trial import Trial

# Highest share of repeats among the trials for figures so far. If a machine disturbs all trials,
# repeats do not help, and the run must end in its planned time.
REPEATED_SHARE = 0.25


class Repeats:
    """Decides about repeats for all trials of a run, and counts them."""

    def __init__(self) -> None:
        self._trials = self._repeats = 0

    def wanted(self, attempts: Sequence[Trial], purpose: Purpose, cpus: Collection[int]) -> bool:
        """Whether to repeat a trial. `attempts`: those so far, in order; `cpus`: the server's."""
        if len(attempts) > purpose.repeats or not (purpose.decides or self._affordable()):
            return False
        return _disturbed(attempts[-1], cpus)

    def count(self, attempts: Sequence[Trial], purpose: Purpose) -> None:
        """Count the repeats of a trial for a figure."""
        if purpose.repeats and not purpose.decides:
            self._trials += 1
            self._repeats += len(attempts) - 1

    def _affordable(self) -> bool:
        return self._repeats <= REPEATED_SHARE * self._trials


def _disturbed(trial: Trial, cpus: Collection[int]) -> bool:
    """Whether the generator or the machine disturbed the trial.

    One on an emulated host has no cost that a repeat could improve: counts and bytes are right.
    """
    if trial.load_as(SearchStep):
        return needs_repeat(trial)
    seen = Readings(trial)
    return not why_no_time(seen) and bool(disturbances(seen, cpus))
