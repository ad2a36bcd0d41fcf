"""Waterfalls from the bare server to each path."""

from itertools import cycle

import pandas
from matplotlib.figure import Figure

from stackcost.report.plots.drawing import KIND_COLOURS, OTHER_COLOUR, SERVER_COLOURS, key, lying


def waterfall(added: pandas.DataFrame, start: float, words: str, unit: str) -> Figure | None:
    """A row for each path: from the bare server (`start`) on, what each part of it adds.

    `added`: a row for each path, a column for each part, in `unit`; a part below zero is drawn to
    the left, from where the parts above zero begin. `words`: what the axis is. None without rows.
    """
    if added.empty:
        return None
    figure, axes = lying(len(added))
    colours = cycle((*SERVER_COLOURS, OTHER_COLOUR))
    places = list(range(len(added)))
    above, below = [start] * len(added), [start] * len(added)
    for part in added:
        values = added[part].fillna(0.0).tolist()
        lefts = [above[at] if value >= 0 else below[at] + value for at, value in enumerate(values)]
        axes.barh(
            places,
            [abs(value) for value in values],
            left=lefts,
            color=KIND_COLOURS.get(str(part)) or next(colours),
            height=0.7,
            label=str(part),
        )
        above = [at + max(0.0, value) for at, value in zip(above, values, strict=True)]
        below = [at + min(0.0, value) for at, value in zip(below, values, strict=True)]
    for place, (high, low) in enumerate(zip(above, below, strict=True)):
        axes.annotate(
            f"{high + low - start:,.0f}",
            (high, place),
            textcoords="offset points",
            xytext=(4, 0),
            va="center",
            fontsize=8,
        )
    axes.axvline(start, color="#555555", linewidth=1, linestyle="--")
    axes.set_yticks(places, [str(name) for name in added.index], fontsize=8)
    axes.set_xlabel(f"{words}, {unit}; dashed: the bare server", loc="right")
    axes.set_xlim(left=0)
    key(figure, [axes])
    return figure
