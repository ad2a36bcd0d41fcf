"""Figures of cost factors: with their intervals, and how a published one comes apart."""

import textwrap
from collections.abc import Sequence

from matplotlib.figure import Figure

from stackcost.analysis.published import Recomputed
from stackcost.analysis.summary import Factor
from stackcost.report.plots.drawing import (
    OTHER_COLOUR,
    SERVER_COLOURS,
    bounds,
    lying,
    plain_numbers,
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
        "\n".join([pair(each.above, each.below), *textwrap.wrap(each.at, NAME_WIDTH)])
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


def factor_steps(published: Recomputed, factors: Sequence[Factor]) -> Figure:
    """Both published factors from the claim to their raw data, and those measured here below."""
    factors = [factor for factor in factors if factor.ratio.median is not None]
    rows = [
        (f"{step.of}: {step.what.split(':')[0]}", step.value, None)
        for step in published.steps
        if step.unit == "1"
    ]
    figure, axes = lying(len(rows) + len(factors))
    names: list[str] = []
    for place, (name, value, _) in enumerate(rows):
        names.append(name if len(name) < 70 else f"{name[:67]}...")
        colour = SERVER_COLOURS[0] if name.startswith("cpu") else SERVER_COLOURS[1]
        axes.barh(place, value, color=colour, height=0.6)
        axes.annotate(f"{value:,.0f}x", (value, place), textcoords="offset points", xytext=(4, 0),
                      va="center", fontsize=8)  # fmt: skip
    for place, factor in enumerate(factors, len(rows)):
        names.append(f"{factor.name}, measured here: {pair(factor.above, factor.below)}")
        found = bounds(factor.ratio)
        if found and factor.ratio.median:
            axes.plot(found, [place, place], color="black", linewidth=2)
            axes.plot(factor.ratio.median, place, "D", color="black", markersize=5)
            axes.annotate(f"{factor.ratio.median:,.1f}x", (found[1], place), va="center",
                          textcoords="offset points", xytext=(6, 0), fontsize=8)  # fmt: skip
    axes.set_xscale("log")
    plain_numbers(axes)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_xlabel("times the cost of the user-space stack (logarithmic)")
    return figure
