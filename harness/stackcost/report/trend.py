"""A trend as a table and as a plot."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from stackcost.analysis.trend import Trend
from stackcost.report.plots import SERVER_COLOURS, WIDTH
from stackcost.report.text_table import TextTable
from stackcost.report.words import change_of, number

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


def trend_plot(found: Sequence[Trend]) -> Figure:
    """A plot of every value over the measurements, with the mean of each group and the changes."""
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
