"""Trends over the stored runs of a folder: when did a figure change?

The figures are those of the stored answers. Runs follow each other in the order of their start.
Only figures of runs with one title, on one kind of machine, are in one trend.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from stackcost.analysis.comparing.trend import Measurement, Subject, Trend, trends
from stackcost.analysis.figures.registry import is_counted, is_judged
from stackcost.contracts.errors import StackcostError
from stackcost.report.listing import runs_in
from stackcost.report.results.computed import basis_of, program_digest
from stackcost.report.results.opened import stored_summary
from stackcost.report.text_table import TextTable
from stackcost.report.words import change_of, number
from stackcost.store import Manifest
from stackcost.store.manifest import moment

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEIGHT = 2.8  # inches, of each series
SHORT_COMMIT = 10
CHANGED = "#D55E00"


def trend_table(found: Sequence[Trend]) -> TextTable:
    """A row for each group of similar measurements; those of a figure follow each other."""
    rows: list[tuple[str, ...]] = [
        (
            "" if at else str(trend.of),
            group.measurements[0].name,
            str(len(group.measurements)),
            f"{number(group.mean)} +- {number(group.deviation)}"
            + ("" if trend.of.unit == "1" else f" {trend.of.unit}"),
            "" if group.change is None else change_of(group.change),
            group.measurements[0].commit[:SHORT_COMMIT],
        )
        for trend in found
        for at, group in enumerate(trend.groups)
    ]
    columns = ("figure", "since", "measurements", "mean +- deviation", "change (interval)")
    title = "Groups of similar measurements"
    if any(row[-1] for row in rows):
        return TextTable(title, (*columns, "first commit"), rows)
    return TextTable(title, columns, [row[:-1] for row in rows])


def trend_plot(found: Sequence[Trend]) -> "Figure":
    """A plot of every value over the measurements, with the mean of each group and the changes."""
    from matplotlib.figure import Figure  # with pandas two seconds, which the table does not need

    from stackcost.report.plots import SERVER_COLOURS, WIDTH

    figure = Figure(figsize=(WIDTH, HEIGHT * max(1, len(found))), layout="constrained")
    rows = figure.subplots(max(1, len(found)), 1, squeeze=False)
    for axes, series in zip(rows[:, 0], found, strict=False):
        for group in series.groups:
            for at, each in enumerate(group.measurements, group.first + 1):
                axes.plot(
                    [at] * len(each.values),
                    each.values,
                    "o",
                    color=SERVER_COLOURS[0],
                    markersize=3,
                    alpha=0.5,
                )
            ends = [group.first + 0.6, group.first + len(group.measurements) + 0.4]
            axes.plot(ends, [group.mean] * 2, color="black", linewidth=1.5)
            if group.change is not None:
                axes.axvline(group.first + 0.5, color=CHANGED, linestyle="--", linewidth=1)
                axes.annotate(
                    change_of(group.change).partition(" (")[0],
                    (group.first + 0.5, 1.0),
                    xycoords=("data", "axes fraction"),
                    textcoords="offset points",
                    xytext=(3, -10),
                    color=CHANGED,
                    fontsize=8,
                )
        axes.set_title(str(series.of), loc="left", fontsize=9)
        axes.set_xlabel("measurement")
        axes.set_ylabel(series.of.unit)
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.spines[["top", "right"]].set_visible(False)
    return figure


MACHINE_DIGITS = 8
COUNTED = "a guest that counts"  # its counts are the same on any machine


class RunTrends(BaseModel):
    """All trends. `single`: figures that only one run has. `unanswered`: complete runs without a
    stored answer. `older`: runs with an answer of another program, or of files with other times
    or sizes.
    """

    model_config = ConfigDict(frozen=True)

    trends: list[Trend]
    single: int = 0
    unanswered: int = 0
    older: int = 0


def run_trends(results: Path, only: str = "") -> RunTrends:
    """The trends of a folder of runs, of figures whose title, system or name has `only` in it."""
    program = program_digest()
    unanswered = older = 0
    found: list[tuple[Subject, Measurement]] = []
    for run in runs_in(results):
        try:
            manifest = run.manifest()
            began = moment(manifest.started)
        except (StackcostError, ValueError):
            continue
        if manifest.state != "complete":
            continue
        try:
            answer = stored_summary(run)
        except StackcostError:
            unanswered += 1
            continue
        older += answer.basis != basis_of(run, program)
        title, machine = str(manifest.experiment.get("title", "")), _machine_of(manifest)
        shares = _shares(manifest)
        for each in answer.system_figures():
            where = COUNTED if is_counted(each.name) else machine
            share = shares.get(each.at)
            at = each.at if share is None else share
            named = title, each.system, each.name, each.spread.unit
            of = Subject(*named, where, at, is_share=share is not None)
            if is_judged(each.name) and each.spread.values and of.has(only):
                measured = Measurement(name=run.name, time=began, values=each.spread.values)
                found.append((of, measured))
    all_trends = trends(found)
    kept = [each for each in all_trends if sum(len(g.measurements) for g in each.groups) > 1]
    return RunTrends(
        trends=sorted(kept, key=lambda trend: (str(trend.of), trend.of.at or 0)),
        single=len(all_trends) - len(kept),
        unanswered=unanswered,
        older=older,
    )


def _shares(manifest: Manifest) -> dict[float | None, float]:
    """The shares of its ceiling that a run's rates are, by rate; empty if its file gave rates.

    Each run finds another ceiling, so its rates are in no other run.
    """
    shares = manifest.experiment.get("load", {}).get("offered_shares", [])
    found = manifest.loads_found
    return dict(zip(found.offered_cps if found else [], shares, strict=False))


def _machine_of(manifest: Manifest) -> str:
    """A short key of the processors of the machine, and of the other hosts of its test bed."""
    machines: list[Any] = [manifest.machine]
    for bed in manifest.test_bed.values():
        hosts = bed.get("hosts") if isinstance(bed, Mapping) else None
        machines += hosts.values() if isinstance(hosts, Mapping) else []
    known = sorted(set(map(_processors, machines)))
    return sha256("\n".join(known).encode()).hexdigest()[:MACHINE_DIGITS]


def _processors(described: Any) -> str:
    """What of them no update changes."""
    try:
        found = described.get("machine", described)["processors"]
        return f"{found['model']} {found['architecture']} {len(found['online'])}"
    except (AttributeError, KeyError, TypeError):
        return "unknown"
