"""The one place that decides, while a run goes on, whether a trial is made again.

Everything else that is said of a trial is said when the run is read.
"""

from collections.abc import Collection, Sequence

from stackcost.analysis.ceiling.stored import needs_repeat
from stackcost.analysis.flags import disturbances
from stackcost.analysis.readings import Readings
from stackcost.contracts.load import SearchStep
from stackcost.contracts.trial import Trial
from stackcost.harness.campaign.turn import Purpose

# Of the trials for figures so far, how many more are made at most: a machine that disturbs all of
# them gets no better by repeating, and the run has to end in its time.
REPEATED_SHARE = 0.25


class Repeats:
    """Decides for all trials of a run, and counts the repeats."""

    def __init__(self) -> None:
        self._trials = self._repeats = 0

    def wanted(self, attempts: Sequence[Trial], purpose: Purpose, cpus: Collection[int]) -> bool:
        """Whether a trial is measured again. `attempts`: so far, in order; `cpus`: the server's."""
        if len(attempts) > purpose.repeats or not (purpose.decides or self._affordable()):
            return False
        return _disturbed(attempts[-1], cpus)

    def count(self, attempts: Sequence[Trial], purpose: Purpose) -> None:
        """Remember how a trial went, of those for figures that may be repeated."""
        if purpose.repeats and not purpose.decides:
            self._trials += 1
            self._repeats += len(attempts) - 1

    def _affordable(self) -> bool:
        return self._repeats <= REPEATED_SHARE * self._trials


def _disturbed(trial: Trial, cpus: Collection[int]) -> bool:
    """Whether the generator or the machine is the reason for what the trial shows."""
    if isinstance(trial.load, SearchStep):
        return needs_repeat(trial)
    return bool(disturbances(Readings(trial), cpus))
