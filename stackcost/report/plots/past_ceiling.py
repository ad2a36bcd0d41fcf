"""Latency over offered rates, by both ways of timing it."""

from matplotlib.figure import Figure

from stackcost.analysis.summary import Level, Summary
from stackcost.report.past_ceiling import INTENDED, percentile
from stackcost.report.plots.drawing import key, labels, line, looks, panels, plain_numbers

WAYS = (("from the intended start", (INTENDED,)), ("from sending", ("request", "connection")))


def latency_at_rates(summary: Summary) -> Figure | None:
    """A panel for each system and test with several rates, both axes logarithmic."""
    rated: dict[str, list[Level]] = {}
    for server in summary.servers:
        for level in server.levels:
            if level.http and level.offered_cps:
                rated.setdefault(f"{server.name}, {level.test}", []).append(level)
    rated = {name: levels for name, levels in rated.items() if len(levels) > 1}
    if not rated:
        return None
    figure, axes_list = panels(len(rated), height=2.8)
    for axes, (name, levels) in zip(axes_list, rated.items(), strict=False):
        for (way, kinds), look in zip(WAYS, looks(), strict=False):
            points = [(level.offered_cps, percentile(level, *kinds)) for level in levels]
            line(axes, way, [(x, each) for x, each in sorted(points, key=_by_x) if each], look)
        axes.set_xscale("log")
        axes.set_yscale("log")
        plain_numbers(axes)
        axes.set_title(name, loc="left", fontsize=8)
        labels(axes, "requests/s offered", "us, 99th percentile")
    key(figure, axes_list)
    return figure


def _by_x(point: tuple[float, object]) -> float:
    return point[0]
