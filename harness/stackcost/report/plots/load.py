"""Figures of ceilings."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from stackcost.analysis.ceiling.summary import Ceiling
from stackcost.report.plots.drawing import (
    SERVER_COLOURS,
    key,
    panels,
    plain_numbers,
)


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
