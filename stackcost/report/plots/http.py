"""Figures of HTTP clients' tests."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from stackcost.analysis.spread import Spread
from stackcost.report.http import KINDS, Curve, Tls, is_scaled
from stackcost.report.plots.drawing import (
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
from stackcost.report.words import INTERVAL


def tests_over_axis(every: Sequence[Curve]) -> Figure | None:
    """A panel for each test: its figure over workers or cores, a line for each system.

    Where there is nothing to scale by, a panel for each unit with all its tests.
    """
    if not every:
        return None
    if not is_scaled(every):
        return _beside_each_other(every)
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


def _beside_each_other(every: Sequence[Curve]) -> Figure:
    units = list(dict.fromkeys(one.unit for one in every))
    figure, axes_list = panels(len(units), height=3.0)
    for axes, unit in zip(axes_list, units, strict=True):
        own = [one for one in every if one.unit == unit]
        names = dict.fromkeys(name for one in own for name in one.points)
        for name, look in zip(names, looks(), strict=False):
            values = [
                (at, one.value(level))
                for at, one in enumerate(own)
                for level in one.points.get(name, {}).values()
            ]
            line(axes, name, values, look | {"linestyle": "none"})
        if own[0].what == "latency":
            axes.set_yscale("log")
        plain_numbers(axes)
        axes.set_xticks(range(len(own)), [one.name for one in own], rotation=40, ha="right")
        axes.set_xlim(-0.5, len(own) - 0.5)
        axes.tick_params(axis="x", labelsize=7)
        labels(axes, "", unit)
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
    axes.set_xlabel(f"us of the server's CPU per request, median and {INTERVAL}")
    key(figure, [axes])
    return figure
