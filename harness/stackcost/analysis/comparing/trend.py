"""Trends: one figure of one system over many measurements, and where it changed.

`comparing.change_points` splits the measurements into groups, and
`comparing.comparison` says how far apart two groups are. In both the measurements of a
session are one value, the median of their medians: they are of the same hours, so their spread
says nothing of the next day's.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import fmean, median, pstdev

from pydantic import BaseModel, ConfigDict

from stackcost.analysis.comparing.change_points import groups_of
from stackcost.analysis.comparing.comparison import Comparison, Design, ratio_of
from stackcost.analysis.comparing.series import Series
from stackcost.analysis.figures.figure import RATES

# On each side of a change, the nearest measurements that its size is computed from.
NEAREST = 100
# Measurements that begin within so long after the first one are of one session.
SESSION = timedelta(hours=3)


@dataclass(frozen=True, slots=True)
class Subject:
    """What a trend is of. `at`: connections/s, if the figure is of a load; `is_share`: the share of
    the ceiling that each run searched for its loads.
    """

    title: str
    system: str
    figure: str
    unit: str
    machine: str
    at: float | None = None
    is_share: bool = False

    def has(self, text: str) -> bool:
        """Whether this text is in its title, system or figure."""
        return text in f"{self.title} {self.system} {self.figure}"

    def __str__(self) -> str:
        at = f"{self.at:.0%} of the ceiling" if self.is_share else f"{self.at or 0:,.0f}/s"
        at = "" if self.at is None else f" at {at}"
        return f"{self.title}: {self.figure} of {self.system}{at}, machine {self.machine}"


class Measurement(BaseModel):
    """The values of a figure in one run. `name`: of the run, or its time. `time`: when it began."""

    model_config = ConfigDict(frozen=True)

    name: str
    time: datetime
    values: list[float]
    commit: str = ""


class Group(BaseModel):
    """Consecutive similar measurements. `mean`, `deviation`: of all their medians. `change`: from
    the group before; None for the first. The groups decide that there is a change; its size and
    interval come from the nearest sessions.
    """

    model_config = ConfigDict(frozen=True)

    first: int
    measurements: list[Measurement]
    mean: float
    deviation: float
    change: Comparison | None


class Trend(BaseModel):
    """The measurements of one subject in order, in groups."""

    model_config = ConfigDict(frozen=True)

    of: Subject
    groups: list[Group]


def trends(found: Iterable[tuple[Subject, Measurement]]) -> list[Trend]:
    """A trend of each subject, its measurements in the order of their times."""
    series: dict[Subject, list[Measurement]] = {}
    for subject, measurement in found:
        series.setdefault(subject, []).append(measurement)
    return [
        Trend(of=of, groups=_groups(sorted(known, key=lambda each: each.time), of.unit))
        for of, known in series.items()
    ]


def _groups(measured: Sequence[Measurement], unit: str) -> list[Group]:
    sessions = _sessions(measured)
    values = [median(median(each.values) for each in session) for session in sessions]
    firsts = groups_of(values)
    groups: list[Group] = []
    at = 0
    for before, first, end in zip([0, *firsts], firsts, [*firsts[1:], len(values)], strict=False):
        own = [each for session in sessions[first:end] for each in session]
        medians = [median(each.values) for each in own]
        change = None
        if groups:
            change = _change(values[before:first][-NEAREST:], values[first:end][:NEAREST], unit)
        groups.append(
            Group(
                first=at,
                measurements=own,
                mean=fmean(medians),
                deviation=pstdev(medians),
                change=change,
            )
        )
        at += len(own)
    return groups


def _sessions(measured: Sequence[Measurement]) -> list[list[Measurement]]:
    """The measurements, those of one session together."""
    sessions: list[list[Measurement]] = []
    for each in measured:
        if sessions and each.time - sessions[-1][0].time < SESSION:
            sessions[-1].append(each)
        else:
            sessions.append([each])
    return sessions


def _change(before: Sequence[float], after: Sequence[float], unit: str) -> Comparison:
    one, other = (
        Series.of(dict(enumerate(side)), unit, "", unit in RATES) for side in (before, after)
    )
    return ratio_of(one, other, Design(paired=False))
