"""The heat map of how long connections took over the time of a load."""

import numpy
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from pandas import DataFrame

from stackcost.report.plots.drawing import labels, panels, title

PER_OCTAVE = 4  # rows of the map for twice the time
COLOURS = "cividis_r"  # the same order for colour-blind readers, and on a grey print


def latency_over_time(found: DataFrame) -> Figure | None:
    """Of each system the connections by second and by the time they took, all rounds together.

    `found`: rows of `run.latency_over_time`, of one load of each system. None without any.
    """
    if found.empty:
        return None
    rows = numpy.floor(PER_OCTAVE * numpy.log2(found["us"].clip(lower=1))).astype(int)
    found = found.assign(row=rows, second=found["seconds"].round().astype(int))
    lowest, highest = rows.min(), rows.max() + 1
    most = found.groupby(["system", "second", "row"])["count"].sum().max()
    figure, every = panels(found["system"].nunique(), same_scale=True)
    edges = 2.0 ** (numpy.arange(lowest, highest + 1) / PER_OCTAVE)
    for axes, (system, own) in zip(every, found.groupby("system", sort=False), strict=True):
        length = own["second"].max() + 1
        seconds = numpy.arange(min(0, own["second"].min()), length + 1)
        counts = numpy.zeros((highest - lowest, len(seconds) - 1))
        numpy.add.at(counts, (own["row"] - lowest, own["second"] - seconds[0]), own["count"])
        shown = numpy.ma.masked_equal(counts, 0)
        mesh = axes.pcolormesh(seconds, edges, shown, norm=LogNorm(1, max(2, most)), cmap=COLOURS)
        axes.set_yscale("log")
        title(axes, str(system))
        labels(axes, "seconds from the start of the window", "us to the last byte")
    figure.colorbar(mesh, ax=every, label="connections")
    return figure
