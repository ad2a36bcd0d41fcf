"""The heat map of how long connections took over the time of a load."""

import numpy
from matplotlib.figure import Figure
from pandas import DataFrame

from stackcost.report.plots.drawing import key, labels, panels, plain_numbers, title

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
