"""The figure of a comparison: each judged ratio with its interval."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from stackcost.analysis.comparison import Comparison
from stackcost.report.plots.drawing import OTHER_COLOUR, SERVER_COLOURS, lying


def ratios(comparisons: Sequence[Comparison]) -> Figure:
    """B over A, a row for each figure with a verdict; at 1 they are equal. Colour and marker say
    whether they were called different.
    """
    shown = [each for each in comparisons if each.verdict != "not judged" and each.ratio]
    figure, axes = lying(len(shown))
    for place, each in enumerate(shown):
        ratio = each.ratio or 0.0
        colour = SERVER_COLOURS[1] if each.differs else OTHER_COLOUR
        if each.low is not None and each.high is not None:
            axes.plot([each.low, each.high], [place, place], color=colour, linewidth=2)
        axes.plot(ratio, place, "D" if each.differs else "o", color=colour, label=each.verdict)
    axes.set_yticks(range(len(shown)), [f"{e.figure}, {e.at}" for e in shown], fontsize=8)
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xlabel("B over A and its interval, of 95 % unless the table says less; 1: equal")
    handles, names = axes.get_legend_handles_labels()
    once = dict(zip(names, handles, strict=True))
    if once:
        axes.legend(once.values(), once.keys(), frameon=False, fontsize=8)
    return figure
