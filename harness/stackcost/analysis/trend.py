"""Trends: one figure of one system over many measurements, and where it changed.

`stackcost.analysis.change_points` splits the measurements into groups, and
`stackcost.analysis.comparison` says how far apart two groups are. In both a measurement is one
value, its median: what it is of comes from the same hour, so its spread says nothing of the next
hour's.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from pydantic import BaseModel, ConfigDict

from stackcost.analysis.change_points import segments_of
from stackcost.analysis.comparison import Comparison, Design, ratio_of
from stackcost.analysis.figures.figure import RATES
from stackcost.analysis.series import Series

# On each side of a change, the nearest measurements that its size is computed from.
NEAREST = 100


@dataclass(frozen=True, slots=True)
class Subject:
    """What a trend is of. `at`: connections/s, if the figure is of a load."""

    title: str
    system: str
    figure: str
    unit: str
    machine: str
    at: float | None = None

    def has(self, text: str) -> bool:
        """Whether this text is in its title, system or figure."""
        return text in f"{self.title} {self.system} {self.figure}"

    def __str__(self) -> str:
        at = "" if self.at is None else f" at {self.at:,.0f}/s"
        return f"{self.title}: {self.figure} of {self.system}{at}, machine {self.machine}"


class Measurement(BaseModel):
    """The values of a figure in one run. `name`: of the run, or its time."""

    model_config = ConfigDict(frozen=True)

    name: str
    values: list[float]
    commit: str = ""


class Group(BaseModel):
    """Consecutive similar measurements. `mean`, `deviation`: of all their medians. `change`: from
    the group before; None for the first. The groups decide that there is a change; its size and
    interval come from the medians of the nearest measurements.
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
    """A trend of each subject. The measurements of each are given in order."""
    series: dict[Subject, list[Measurement]] = {}
    for subject, measurement in found:
        series.setdefault(subject, []).append(measurement)
    return [Trend(of=of, groups=_groups(known, of.unit)) for of, known in series.items()]


def _groups(measured: Sequence[Measurement], unit: str) -> list[Group]:
    values = [median(each.values) for each in measured]
    groups: list[Group] = []
    for first, length, mean, deviation in segments_of([[value] for value in values]):
        change, end = None, first + length
        if groups:
            earlier = values[groups[-1].first : first][-NEAREST:]
            change = _change(earlier, values[first:end][:NEAREST], unit)
        own = list(measured[first:end])
        groups.append(
            Group(first=first, measurements=own, mean=mean, deviation=deviation, change=change)
        )
    return groups


def _change(before: Sequence[float], after: Sequence[float], unit: str) -> Comparison:
    one, other = (
        Series.of(dict(enumerate(side)), unit, "", unit in RATES) for side in (before, after)
    )
    return ratio_of(one, other, Design(paired=False))
