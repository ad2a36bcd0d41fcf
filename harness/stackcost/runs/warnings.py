"""Says while there is time that the machine is disturbed: before a run, and while it goes."""

from collections import Counter
from collections.abc import Collection

from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.flags import disturbances
from stackcost.analysis.trial.remedies import HOST, PROGRAMS, remedy
from stackcost.analysis.trial.thresholds import FOREIGN_LIMIT
from stackcost.contracts.trial import Trial
from stackcost.host.taken_cores import TakenCores

LOOKED_S = 2.0  # before the first bed
NAMED = 0.01  # of a core; a program that takes less explains nothing
IN_A_ROW = 3  # disturbed trials, after which a run says so


def words_before(taken: TakenCores) -> str:
    """What takes the cores before a run, what that leaves, and what to do; empty for idle ones."""
    if taken.share <= FOREIGN_LIMIT:
        return ""
    cores = ", ".join(f"{share:.0%} of core {core}" for core, share in taken.shares.items())
    large = [each for each in taken.programs if each.cores >= NAMED]
    said = [f"{each.command} (pid {each.process}) {each.cores:.0%} of a core" for each in large]
    rest = sum(taken.shares.values()) - sum(each.cores for each in large)
    if rest > sum(taken.shares.values()) / 4:
        said.append(f"interrupts, and programs that began or ended meanwhile {rest:.0%}")
    named = ", ".join(said)
    host = taken.stolen > taken.share / 2
    beside = f": {named}" if named and not host else ""
    return (
        f"{'The hypervisor' if host else 'Other programs'} took {cores} in the "
        f"{taken.seconds:.0f} s before the run{beside}. A trial "
        f"with more than {FOREIGN_LIMIT:.0%} of the server's cores taken is flagged, and costs and "
        "ceilings of such trials are those of a busy machine: only large differences can be told. "
        f"{HOST if host else PROGRAMS}."
    )


class DisturbedInARow:
    """Keeps the causes of the trials that were disturbed one after the other."""

    def __init__(self) -> None:
        self._causes: list[str] = []

    def words(self, trial: Trial, cpus: Collection[int]) -> str:
        """A sentence after the third such trial, once; else empty. `cpus`: the server's."""
        found = disturbances(Readings(trial, cpus))
        self._causes = self._causes + found[:1] if found else []
        if len(self._causes) != IN_A_ROW:
            return ""
        told = f"{IN_A_ROW} trials in a row were disturbed, the last one: {found[0]}"
        ((helps, _),) = Counter(map(remedy, self._causes)).most_common(1)
        return f"{told}. {helps}."
