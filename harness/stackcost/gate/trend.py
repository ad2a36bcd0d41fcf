"""Finds the changes in a history: similar measurements are one group.

`stackcost.analysis.change_points` splits the history, and `stackcost.analysis.comparison` computes
the difference between two groups. In both a measurement is one value, the median of its trials:
these are from the same hour and not independent, so their spread says nothing of the next hour's.
"""

from collections.abc import Sequence
from statistics import median

from pydantic import BaseModel, ConfigDict

from stackcost.analysis.change_points import groups_of
from stackcost.analysis.comparison import Comparison, Design, ratio_of
from stackcost.analysis.series import Series
from stackcost.gate.figure import Figure
from stackcost.gate.history import Entry
from stackcost.gate.verdict import UNIT


class Group(BaseModel):
    """Consecutive similar measurements. `change`: from the previous group; None for the first.

    The groups decide that there is a change; size and interval come from the measurements.
    """

    model_config = ConfigDict(frozen=True)

    first: int
    entries: list[Entry]
    mean_cps: float
    deviation_cps: float
    change: Comparison | None


class Trend(BaseModel):
    """One system's measurements of one figure by one test on one machine, in order."""

    model_config = ConfigDict(frozen=True)

    test: str
    system: str
    figure: Figure
    machine: str
    groups: list[Group]


def trend(history: Sequence[Entry]) -> list[Trend]:
    """All trends of a history."""
    found: dict[tuple[str, str, Figure, str], list[Entry]] = {}
    for entry in history:
        key = entry.test, entry.system, entry.figure, entry.machine
        found.setdefault(key, []).append(entry)
    return [
        Trend(test=test, system=system, figure=figure, machine=machine, groups=_groups(entries))
        for (test, system, figure, machine), entries in found.items()
    ]


def _groups(entries: Sequence[Entry]) -> list[Group]:
    groups: list[Group] = []
    for each in groups_of([[median(entry.cps)] for entry in entries]):
        own = list(entries[each.first : each.first + each.length])
        groups.append(
            Group(
                first=each.first,
                entries=own,
                mean_cps=each.mean,
                deviation_cps=each.deviation,
                change=_change(groups[-1].entries, own) if groups else None,
            )
        )
    return groups


def _change(before: Sequence[Entry], after: Sequence[Entry]) -> Comparison:
    one, other = (
        Series.of({at: median(each.cps) for at, each in enumerate(side)}, UNIT)
        for side in (before, after)
    )
    return ratio_of(one, other, Design(paired=False))
