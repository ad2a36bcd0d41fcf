"""Published tables drawn again, and what was measured here beside them."""

import textwrap
from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from stackcost.analysis.published_tables import PublishedTable
from stackcost.report.plots.drawing import key, labels, looks, panels, plain_numbers
from stackcost.report.published_match import PublishedMatch

TITLE_WIDTH = 24  # characters
TICKS = 4  # of numbers in the millions, beside each other


def redrawn(tables: Sequence[PublishedTable], ours: Sequence[PublishedMatch] = ()) -> Figure:
    """A panel for each table, a line for each of its columns; `ours` in black, with its bounds."""
    drawn = [table for table in tables if table.shape]
    figure, axes_list = panels(len(drawn), height=2.5)
    for axes, table in zip(axes_list, drawn, strict=False):
        for column, look in zip(table.columns, looks(), strict=False):
            x, y = zip(*table.points(column), strict=True)
            axes.plot(x, y, label=column, markersize=4, linewidth=1.2, **look)
        for own in ours:
            if own.table == table.name and own.value is not None and own.x is not None:
                arms = [[own.value - own.low], [own.high - own.value]]
                axes.errorbar(own.x, own.value, yerr=arms, fmt="*", color="black", markersize=9,
                              capsize=3, label="measured here")  # fmt: skip
        title = textwrap.fill(f"{table.name}: {table.title}", TITLE_WIDTH)
        axes.set_title(title, loc="left", fontsize=7)
        if table.better == "lower":
            axes.set_yscale("log")
        plain_numbers(axes)
        if table.x == "worker processes":
            axes.set_xscale("log", base=2)
            ticks = [x for x, _ in table.points(table.columns[0])]
            axes.set_xticks(ticks, [f"{x:.0f}" for x in ticks])
        else:
            axes.xaxis.set_major_locator(MaxNLocator(TICKS))
        axes.minorticks_off()
        axes.tick_params(labelsize=7)
        labels(axes, table.x, table.unit)
        axes.xaxis.label.set_fontsize(7)
        axes.yaxis.label.set_fontsize(7)
    key(figure, axes_list)
    return figure
