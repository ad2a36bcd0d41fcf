"""Figures of ceilings, and of completion times second by second."""

from collections.abc import Sequence

import numpy
from matplotlib.figure import Figure
from pandas import DataFrame

from stackcost.analysis.ceiling.summary import Ceiling
from stackcost.report.plots import (
    SERVER_COLOURS,
    key,
    labels,
    panels,
    plain_numbers,
    title,
)

PER_OCTAVE = 3  # rows of the map for twice the time
# From few connections to many; the order is the same on a grey print.
COLOURS = ("#CFE1F2", "#93C3DF", "#4A97C9", "#1764AB", "#08306B")


def latency_over_time(found: DataFrame) -> Figure | None:
    """Of each system the connections by second and by the time they took, all rounds together.

    `found`: rows of `run.latency_over_time`, of one load of each system. None without any.
    """
    if found.empty:
        return None
    rows = numpy.floor(PER_OCTAVE * numpy.log2(found["us"].clip(lower=1)))
    cells = found.assign(row=rows, second=found["seconds"].round())
    counts = cells.groupby(["system", "second", "row"], sort=False)["count"].sum().reset_index()
    figure, every = panels(counts["system"].nunique(), same_scale=True)
    for axes, (system, own) in zip(every, counts.groupby("system", sort=False), strict=True):
        axes.set_yscale("log")
        decades = numpy.log10(own["count"]).astype(int).clip(upper=len(COLOURS) - 1)
        for decade, colour in enumerate(COLOURS):
            cells = own[decades == decade]
            if cells.empty:
                continue
            low, high = (2.0 ** ((cells["row"] + up) / PER_OCTAVE) for up in (0, 1))
            above = f"to {10 ** (decade + 1) - 1:,}" if colour != COLOURS[-1] else "or more"
            words = f"{10**decade:,} {above}"
            axes.bar(cells["second"], high - low, 1.0, low, align="edge", color=colour, label=words)
        plain_numbers(axes)
        title(axes, str(system))
        labels(axes, "seconds from the start of the window", "us to the last byte")
    key(figure, every)
    return figure


def ceilings_found(ceilings: Sequence[Ceiling]) -> Figure:
    """The interval of every search as a bar; without one, from what was held to what was not."""
    units = list(dict.fromkeys(ceiling.unit for ceiling in ceilings))
    figure, axes_list = panels(len(units), height=1.2 + 0.5 * len(ceilings) / max(1, len(units)))
    for axes, unit in zip(axes_list, units, strict=False):
        own = [ceiling for ceiling in ceilings if ceiling.unit == unit]
        for place, ceiling in enumerate(own):
            for shift, rate in enumerate(ceiling.rates):
                if rate.value is None or rate.lower is None:
                    continue
                height, colour = place + 0.3 * shift, SERVER_COLOURS[shift]
                low = rate.lower if rate.low is None else rate.low
                high = (rate.upper or rate.lower) if rate.high is None else rate.high
                axes.plot([low, high], [height] * 2, color=colour, linewidth=5, alpha=0.4)
                axes.plot(rate.value, height, "os"[shift], color=colour, label=rate.name)
        names = [
            ceiling.server + (f", search {ceiling.round}" if ceiling.round > 1 else "")
            for ceiling in own
        ]
        plain_numbers(axes)
        axes.set_yticks([place + 0.15 for place in range(len(own))], names, fontsize=8)
        axes.set_ylim(len(own) - 0.4, -0.4)
        axes.set_xlim(left=0)
        if not axes.lines:
            axes.text(0.5, 0.5, "no load was held", transform=axes.transAxes, ha="center")
            axes.set_xticks([])
        axes.set_xlabel(unit)
    key(figure, axes_list)
    return figure
