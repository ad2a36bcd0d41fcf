"""Whether an account of CPU time is whole: all kinds together make wall time x cores.

An account that does not close has lost time, or booked some twice, and no figure of it is worth
more than the gap.
"""

from dataclasses import dataclass

from stackcost.analysis.core_time import core_seconds
from stackcost.analysis.readings import Readings

TOLERANCE = 0.01  # of wall time x cores


@dataclass(frozen=True, slots=True)
class AccountedTime:
    """Seconds over all cores in one phase.

    `wall`: its length x cores. `exact`: what the tracepoints booked; time that a hypervisor took
    lies inside. `ticks`: all columns of /proc/stat, steal among them, which a kernel that accounts
    by ticks only estimates; None when not read. `stolen`: its column steal.
    """

    wall: float
    exact: float
    ticks: float | None
    stolen: float | None

    @property
    def share(self) -> float:
        """Of wall time x cores, what the exact account holds: 1 when it closes."""
        return self.exact / self.wall

    @property
    def is_whole(self) -> bool:
        """Whether it does, within TOLERANCE."""
        return abs(self.share - 1) <= TOLERANCE


def accounted_time(seen: Readings) -> AccountedTime | None:
    """The account of all cores in a phase; None when a core's was not read."""
    window = seen.window
    cores = {sample.labels.get("cpu") for sample in seen.samples("cpu.exact_time")} - {None}
    if window is None or not cores:
        return None
    residues = []
    for core in cores:
        account = core_seconds(seen, int(core or 0))
        if account is None or account.residue is None:
            return None
        residues.append(account.residue)
    wall = window.length * len(cores)
    kinds = seen.by_label("cpu.time", "kind")
    return AccountedTime(
        wall=wall,
        exact=wall - sum(residues),
        ticks=sum(kinds.values()) if kinds else None,
        stolen=kinds.get("steal"),
    )
