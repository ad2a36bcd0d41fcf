"""Where a ceiling's history changed: groups of measurements that are alike, by `jumpavg`.

Of all ways to cut the series into groups it takes the one that describes all trials in the fewest
bits (minimum description length), as FD.io's CSIT does for its trending. A measurement's trials
stay together, so that their spread counts.
"""

from collections.abc import Sequence

from jumpavg import classify
from pydantic import BaseModel, ConfigDict

from harness.gate.history import Entry


class Group(BaseModel):
    """Measurements in a row that are alike. `change`: of the mean against the group before."""

    model_config = ConfigDict(frozen=True)

    first: int
    entries: list[Entry]
    mean_cps: float
    deviation_cps: float
    change: float | None


class Series(BaseModel):
    """One system's measurements by one test on one machine, in order."""

    model_config = ConfigDict(frozen=True)

    test: str
    system: str
    machine: str
    groups: list[Group]


def trend(history: Sequence[Entry]) -> list[Series]:
    """All series of a history, each in its groups."""
    found: dict[tuple[str, str, str], list[Entry]] = {}
    for entry in history:
        found.setdefault((entry.test, entry.system, entry.machine), []).append(entry)
    return [
        Series(test=test, system=system, machine=machine, groups=_groups(entries))
        for (test, system, machine), entries in found.items()
    ]


def _groups(entries: Sequence[Entry]) -> list[Group]:
    groups: list[Group] = []
    first = 0
    for each in classify([entry.cps for entry in entries]):
        before = groups[-1].mean_cps if groups else None
        groups.append(
            Group(
                first=first,
                entries=list(entries[first : first + len(each)]),
                mean_cps=each.stats.avg,
                deviation_cps=each.stats.stdev,
                change=None if before is None else each.stats.avg / before - 1,
            )
        )
        first += len(each)
    return groups
