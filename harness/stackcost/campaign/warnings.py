"""Says while there is time that other programs take the cores: before a run, and while it goes."""

from collections.abc import Collection

from stackcost.analysis.flags import disturbances
from stackcost.analysis.readings import Readings
from stackcost.analysis.thresholds import FOREIGN_LIMIT
from stackcost.contracts.trial import Trial
from stackcost.host.taken_cores import TakenCores

LOOKED_S = 2.0  # before the first bed
IN_A_ROW = 3  # disturbed trials, after which a run says so
WHAT_TO_DO = "End them, or measure at another time"


def words_before(taken: TakenCores) -> str:
    """What takes the cores before a run, what that leaves, and what to do; empty for idle ones."""
    if taken.share <= FOREIGN_LIMIT:
        return ""
    cores = ", ".join(f"{share:.0%} of core {core}" for core, share in taken.shares.items())
    named = ", ".join(
        f"{each.command} (pid {each.process}) {each.cores:.0%} of a core" for each in taken.programs
    )
    return (
        f"Other programs took {cores} in the {taken.seconds:.0f} s before the run"
        f"{f': {named}' if named else ''}. A trial in which they take more than "
        f"{FOREIGN_LIMIT:.0%} of the server's cores is flagged, and costs and ceilings of such "
        f"trials are those of a busy machine: only large differences can be told. {WHAT_TO_DO}."
    )


class DisturbedInARow:
    """Counts the trials that were disturbed one after the other."""

    def __init__(self) -> None:
        self._count = 0

    def words(self, trial: Trial, cpus: Collection[int]) -> str:
        """A sentence after the third such trial, once; else empty. `cpus`: the server's."""
        found = disturbances(Readings(trial), cpus)
        self._count = self._count + 1 if found else 0
        if self._count != IN_A_ROW:
            return ""
        return f"{IN_A_ROW} trials in a row were disturbed, the last one: {found[0]}. {WHAT_TO_DO}."
