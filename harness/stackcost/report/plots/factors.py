"""Figures of cost factors with their intervals."""

import textwrap
from collections.abc import Sequence

from matplotlib.figure import Figure

from stackcost.analysis.spread import bounds
from stackcost.analysis.summary import Factor
from stackcost.report.plots.drawing import (
    OTHER_COLOUR,
    SERVER_COLOURS,
    lying,
)
from stackcost.report.words import INTERVAL, pair

NAME_WIDTH = 44  # characters


def factor_intervals(factors: Sequence[Factor]) -> Figure | None:
    """Each factor's median with its interval, and every round's own ratio as a faint point;
    None when no factor is known.
    """
    factors = [factor for factor in factors if factor.ratio.median is not None]
    if not factors:
        return None
    names = [
        "\n".join([pair(each.baseline, each.against), *textwrap.wrap(each.at, NAME_WIDTH)])
        for each in factors
    ]
    figure, axes = lying(len(factors), max(1 + name.count("\n") for name in names))
    for place, factor in enumerate(factors):
        axes.plot(factor.ratio.values, [place] * len(factor.ratio.values), "o", color=OTHER_COLOUR,
                  markersize=3, alpha=0.6)  # fmt: skip
        found = bounds(factor.ratio)
        if found and factor.ratio.median is not None:
            axes.plot(found, [place, place], color=SERVER_COLOURS[0], linewidth=2)
            axes.plot(factor.ratio.median, place, "D", color=SERVER_COLOURS[0], markersize=5)
    axes.set_yticks(range(len(factors)), names, fontsize=8)
    axes.axvline(1, color="#BBBBBB", linewidth=1)
    axes.set_xlim(left=0)
    axes.set_xlabel(f"times the cost, median and {INTERVAL}", loc="right")
    return figure
