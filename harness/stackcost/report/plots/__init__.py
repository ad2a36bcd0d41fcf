"""The report's figures, drawn from stored results alone; here what all of them share.

Colours are those of Okabe and Ito, which colour-blind readers can distinguish; lines also have
different markers, so that a grey print is readable.
"""

import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy
import pandas
from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from stackcost.analysis.spread import Spread, bounds, spread
from stackcost.report.plain import visible

SERVER_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
BESIDE = "kernel beside the peer"
KIND_COLOURS = {
    "user": "#56B4E9",
    "system": "#0072B2",
    "task": "#0072B2",
    "irq": "#CC79A7",
    "softirq": "#E69F00",
    "busy": "#009E73",
    "stack": "#009E73",
    "copying": "#8FD0B5",
    "sending": "#F0E442",
    BESIDE: "#D55E00",
    "idle polling": "#CFE8DF",
    "idle": "#E8E8E8",
}
OTHER_COLOUR = "#999999"
WIDTH, HEIGHT = 8.0, 3.6  # inches
TICK_SIZE, LABEL_SIZE = 8.5, 9.0  # points; a report shows a figure as wide as its text
ACROSS = 3  # panels in a row
MARGIN = 0.04  # of an axis, above its highest mark
LONG_AXIS = 1000  # times as much at its end as at its start


def as_svg(figure: Figure) -> str:
    """A figure as an SVG element; its text stays text, so it can be searched and copied.

    `Figure.savefig` would draw the figure twice, the first time for its layout alone.
    """
    drawing = io.StringIO()
    with _plain_text(figure):
        FigureCanvasSVG(figure).print_svg(drawing)
    text = visible(drawing.getvalue())
    named = f'<svg role="img" aria-label="{escape(_name(figure))}"'
    return named + text[text.index("<svg") + len("<svg") :]


def _name(figure: Figure) -> str:
    """What a figure shows, for who cannot see it: its axes' names and its panels' titles."""
    every = [axes for axes in figure.axes if axes.get_visible()]
    panels = [axes.get_title(loc="left") for axes in every]
    words = [each for axes in every for each in (axes.get_ylabel(), axes.get_xlabel())]
    told = [" over ".join(dict.fromkeys(filter(None, words))), ", ".join(filter(None, panels))]
    return visible(": ".join(filter(None, told)) or "figure")


def save(figure: Figure, to: Path) -> None:
    """Write a figure in the format of the file's name: .svg, .png or .pdf."""
    with _plain_text(figure):
        figure.savefig(to)


@contextmanager
def _plain_text(figure: Figure) -> Iterator[None]:
    """A `$` or a command of TeX in a stored name is text."""
    for text in figure.findobj(Text):
        text.set_parse_math(False)
        text.set_usetex(False)
    with (
        warnings.catch_warnings(),
        rc_context(
            {
                "svg.fonttype": "none",
                "font.family": "sans-serif",
                "text.parse_math": False,
                "text.usetex": False,
            }
        ),
    ):
        # Warnings about long names and missing signs of a font would stand on the page.
        warnings.simplefilter("ignore", UserWarning)
        yield


def panels(
    count: int,
    same_scale: bool = False,
    height: float = HEIGHT,
    across: int = ACROSS,
    same_time: bool = False,
) -> tuple[Figure, list[Axes]]:
    """A figure of so many axes, at least one, in rows of `across` (four: of two); `height` of each
    row in inches. `same_time`: what is along them is the same of all.
    """
    count = max(1, count)
    across = 2 if across == ACROSS and count == 2 * 2 else min(count, across)
    down = -(-count // across)
    figure = Figure(figsize=(WIDTH, height * down), layout="constrained")
    every = figure.subplots(down, across, squeeze=False, sharey=same_scale, sharex=same_time)
    axes = list(every.flat)
    for each in axes:
        each.spines[["top", "right"]].set_visible(False)
        _size(each)
    for unused in axes[count:]:
        unused.set_visible(False)
    return figure, axes[:count]


def lying(rows: int, lines: int = 1) -> tuple[Figure, Axes]:
    """A figure for so many rows of horizontal bars or intervals, the first one on top; a row's name
    has so many `lines`.
    """
    height = 1.1 + (0.18 + 0.16 * lines) * max(1, rows)
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(max(1, rows) - 0.4, -0.6)
    _size(axes)
    return figure, axes


def _size(axes: Axes) -> None:
    axes.tick_params(labelsize=TICK_SIZE)
    axes.xaxis.label.set_fontsize(LABEL_SIZE)
    axes.yaxis.label.set_fontsize(LABEL_SIZE)


def title(axes: Axes, text: str) -> None:
    """The name of a panel, at its upper left. A given height spares a search for a free one, which
    takes a quarter of the time of a figure with many panels.
    """
    axes.set_title(text, loc="left", fontsize=8, y=1.0)


def labels(axes: Axes, below: str, beside: str) -> None:
    """Names and units of both axes; the vertical one begins at zero. Axes on which nothing was
    drawn say so, and have no numbers.
    """
    axes.set_xlabel(below)
    axes.set_ylabel(beside)
    if not axes.patches and not any(numpy.size(drawn.get_xdata()) for drawn in axes.lines):
        axes.text(0.5, 0.5, "not known", transform=axes.transAxes, ha="center")
        axes.tick_params(labelleft=False, labelbottom=False, length=0)
    low, high = axes.get_ylim()
    if axes.get_yscale() == "linear" and low > 0:
        axes.set_ylim(0.0, high + MARGIN * high)


def plain_numbers(axes: Axes) -> None:
    """Ticks such as 20,000 instead of 2 x 10^4; on a short logarithmic axis at 1, 2 and 5."""
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        if axis.get_scale() == "log":
            low, high = axis.get_view_interval()
            steps = (1.0, 2.0, 5.0) if high < low * LONG_AXIS else (1.0,)
            axis.set_major_locator(LogLocator(base=10, subs=steps, numticks=12))
            axis.set_minor_formatter(NullFormatter())


def styles() -> Iterator[dict[str, Any]]:
    """Colour and marker of one line after the other."""
    return ({"color": c, "marker": m} for c, m in zip(cycle(SERVER_COLOURS), cycle(MARKERS)))


def line(
    axes: Axes, name: str, points: Sequence[tuple[float, Spread]], style: Mapping[str, Any]
) -> None:
    """Medians joined, each with its interval; unknown ones are left out."""
    known = [(x, each.median or 0.0, *ends) for x, each in points if (ends := bounds(each))]
    if known:
        places, middles, lows, highs = map(numpy.array, zip(*known, strict=True))
        arms = middles - lows, highs - middles
        axes.errorbar(
            places,
            middles,
            yerr=numpy.clip(arms, 0.0, None),
            label=name,
            capsize=3,
            markersize=5,
            linewidth=1.3,
            **style,
        )


def medians(axes: Axes, table: pandas.DataFrame, x: str, y: str, label: str, **style: Any) -> None:
    """Medians of a table's column `y` over its column `x`, each with its interval, joined."""
    known = table.dropna(subset=[y])
    places = sorted(known[x].unique().tolist())
    points = [(at, spread(known.loc[known[x] == at, y].tolist(), "")) for at in places]
    line(axes, label, points, style)


def stack(
    axes: Axes, names: list[str], bars: Mapping[str, list[float]], lying: bool = False
) -> None:
    """Bars of parts; a part's colour is that of its kind of time, else the next one."""
    others = iter(cycle((*SERVER_COLOURS, OTHER_COLOUR)))
    floor = [0.0] * len(names)
    places = list(range(len(names)))
    for kind, values in bars.items():
        colour = KIND_COLOURS.get(kind) or next(others)
        if lying:
            axes.barh(places, values, left=floor, color=colour, height=0.7, label=kind)
        else:
            axes.bar(places, values, bottom=floor, color=colour, width=0.7, label=kind)
        floor = [below + value for below, value in zip(floor, values, strict=True)]
    if lying:
        axes.set_yticks(places, names, fontsize=8)
    else:
        axes.set_xticks(places, names)


def bars(axes: Axes, table: pandas.DataFrame, lying: bool = False) -> None:
    """A bar for each row of a table, of a part for each column; unknown parts are left out."""
    names = [_named(each) for each in table.index]
    stack(axes, names, {str(part): table[part].fillna(0.0).tolist() for part in table}, lying)


def largest(table: pandas.DataFrame, shown: int = 7) -> pandas.DataFrame:
    """The largest columns, in descending order, and the sum of all others."""
    sums = table.sum()
    order = sums[sums > 0].sort_values(ascending=False).index
    rest = table[order[shown:]]
    found = table[order[:shown]]
    return found.assign(others=rest.sum(axis=1)) if rest.shape[1] else found


def _named(row: object) -> str:
    """The name of a bar: "nginx at 2,000" of a system and a load."""
    parts = row if isinstance(row, tuple) else (row,)
    words = (f"{part:,.0f}" if isinstance(part, float) else str(part) for part in parts)
    return " at ".join(words)


def whiskers(axes: Axes, totals: Sequence[Spread]) -> None:
    """Interval of the total of each bar that lies, with its median at the end."""
    for place, total in enumerate(totals):
        found = bounds(total)
        if found is None or total.median is None:
            continue
        axes.plot(found, [place, place], color="black", linewidth=1.2)
        axes.annotate(
            f"{total.median:,.0f}" if total.median >= 10 else f"{total.median:.1f}",
            (found[1], float(place)),
            textcoords="offset points",
            xytext=(4, 0),
            ha="left",
            va="center",
            fontsize=8,
        )


def key(figure: Figure, axes_list: Sequence[Axes], backwards: bool = False) -> None:
    """One key beside all axes, each name once; `backwards` for stacks, whose first is lowest."""
    names: dict[str, Artist] = {}
    for axes in axes_list:
        handles, texts = axes.get_legend_handles_labels()
        names |= dict(zip(texts, handles, strict=True))
    if not names:
        return  # nothing was known
    ordered = list(names.items())[:: -1 if backwards else 1]
    figure.legend(
        handles=[handle for _, handle in ordered],
        labels=[name for name, _ in ordered],
        loc="outside right upper",
        frameon=False,
        fontsize=8,
    )
