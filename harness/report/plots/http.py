"""Figures of HTTP clients' tests."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from harness.analysis.spread import Spread
from harness.report.http import KINDS, Series, Tls
from harness.report.plots.drawing import (
    key,
    labels,
    line,
    looks,
    lying,
    panels,
    plain_numbers,
    stack,
    whiskers,
)


def tests_over_axis(every: Sequence[Series]) -> Figure | None:
    """A panel for each test: its figure over workers or cores, a line for each system."""
    if not every:
        return None
    figure, axes_list = panels(len(every), height=2.6)
    for axes, one in zip(axes_list, every, strict=False):
        for (name, points), look in zip(one.points.items(), looks(), strict=False):
            line(axes, name, [(x, one.value(level)) for x, level in sorted(points.items())], look)
        ticks = sorted({x for points in one.points.values() for x in points})
        plain_numbers(axes)
        axes.set_xticks(ticks, [str(x) for x in ticks])
        axes.set_title(one.name, loc="left", fontsize=8)
        labels(axes, one.x, one.unit)
    key(figure, axes_list)
    return figure


def tls_by_kind(pairs: Sequence[Tls]) -> Figure | None:
    """The server's CPU per request by kind, without TLS and with it."""
    if not pairs:
        return None
    rows = [
        (f"{pair.system}, {level.load}", level)
        for pair in pairs
        for level in (pair.plain, pair.over_tls)
    ]
    figure, axes = lying(len(rows))
    bars = {
        kind: [level.server_cpu.get(kind, Spread(unit="us")).median or 0.0 for _, level in rows]
        for kind in KINDS
    }
    stack(axes, [name for name, _ in rows], bars, lying=True)
    whiskers(axes, [level.server_cpu_total for _, level in rows], lying=True)
    axes.set_xlabel("us of the server's CPU per request, median and 95 % interval")
    key(figure, [axes])
    return figure
