"""Trends over the stored runs of a folder: when did a figure change?

The figures are those of the stored answers. Runs follow each other in the order of their start.
Only figures of one kind of machine are in one trend.
"""

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from pydantic import BaseModel, ConfigDict

from stackcost.analysis.change_points import groups_of
from stackcost.analysis.comparison import Comparison, Design, ratio_of
from stackcost.analysis.figures.figure import RATES
from stackcost.analysis.series import Series
from stackcost.report.index import index_of
from stackcost.report.text_table import TextTable
from stackcost.report.words import change_of, number

# On each side of a change, the nearest measurements that its size is computed from.
NEAREST = 100
# A trend: one figure of one system, by the run's start. A run without an answer has no figures.
TRENDS = """
    select title, system, figure, "at", unit, machine,
           list(run order by started, run) as runs,
           list("values" order by started, run) as measured
    from figures join runs using (run)
    where state = 'complete' and contains(title || ' ' || system || ' ' || figure, $only)
    group by all
    order by title, system, figure, "at", machine
"""


class RunGroup(BaseModel):
    """Consecutive similar runs. `mean`, `deviation`: of all their values. `change`: from the group
    before; None for the first. The groups decide that there is a change; size and interval come
    from the medians of the nearest runs.
    """

    model_config = ConfigDict(frozen=True)

    first: int
    runs: list[str]
    mean: float
    deviation: float
    change: Comparison | None


class RunTrend(BaseModel):
    """One figure of one system over all runs. `at`: connections/s, if it is of a load."""

    model_config = ConfigDict(frozen=True)

    title: str
    system: str
    figure: str
    at: float | None
    unit: str
    machine: str
    groups: list[RunGroup]


class RunTrends(BaseModel):
    """All trends. `single`: figures that only one run has. `unanswered`: complete runs without a
    stored answer. `older`: runs with an answer of another program, or of files with other times
    or sizes.
    """

    model_config = ConfigDict(frozen=True)

    trends: list[RunTrend]
    single: int
    unanswered: int
    older: int


def run_trends(results: Path, only: str = "") -> RunTrends:
    """The trends of a folder of runs, of figures whose title, system or name has `only` in it."""
    import duckdb

    index = index_of(results)
    with duckdb.connect() as database:
        database.register("runs", index.runs)
        database.register("figures", index.figures)
        rows = database.execute(TRENDS, {"only": only}).fetchall()
        asked = "select count(*) filter (answer = ''), count(*) filter (answer = 'older') from runs"
        answers = database.execute(f"{asked} where state = 'complete'").fetchone() or (0, 0)
    found = [
        RunTrend(
            **dict(zip(("title", "system", "figure", "at", "unit", "machine"), row, strict=False)),
            groups=_groups(runs, measured, row[4]),
        )
        for *row, runs, measured in rows
        if len(runs) > 1
    ]
    unanswered, older = answers
    return RunTrends(
        trends=found, single=len(rows) - len(found), unanswered=unanswered, older=older
    )


def trend_name(trend: RunTrend) -> str:
    """The trend's name for people."""
    at = "" if trend.at is None else f" at {trend.at:,.0f}/s"
    return f"{trend.title}: {trend.system}, {trend.figure}{at}, machine {trend.machine}"


def trend_table(trend: RunTrend) -> TextTable:
    """A row for each group of similar runs."""
    rows: list[tuple[str, ...]] = [
        (
            group.runs[0],
            str(len(group.runs)),
            f"{number(group.mean)} +- {number(group.deviation)}",
            "" if group.change is None else change_of(group.change),
        )
        for group in trend.groups
    ]
    unit = trend.unit if trend.unit != "1" else ""
    columns = ("since", "runs", f"{unit}, mean +- deviation".lstrip(", "), "change (interval)")
    return TextTable(trend_name(trend), columns, rows)


def _groups(runs: Sequence[str], measured: Sequence[Sequence[float]], unit: str) -> list[RunGroup]:
    found: list[RunGroup] = []
    # A run is one value: its turns are of one hour, and say nothing of the next run's.
    for each in groups_of([[median(values)] for values in measured]):
        change = None
        if each.first:
            earlier = each.first - len(found[-1].runs)
            before = measured[max(earlier, each.first - NEAREST) : each.first]
            after = measured[each.first :][: min(each.length, NEAREST)]
            change = _change(before, after, unit)
        found.append(
            RunGroup(
                first=each.first,
                runs=list(runs[each.first : each.first + each.length]),
                mean=each.mean,
                deviation=each.deviation,
                change=change,
            )
        )
    return found


def _change(
    before: Sequence[Sequence[float]], after: Sequence[Sequence[float]], unit: str
) -> Comparison:
    one, other = (
        Series.of({at: median(values) for at, values in enumerate(side)}, unit, "", unit in RATES)
        for side in (before, after)
    )
    return ratio_of(one, other, Design(paired=False))
