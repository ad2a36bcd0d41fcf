"""Figures of CPU time per connection."""

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from stackcost.analysis.spread import Spread
from stackcost.analysis.summary import Level, ServerResult
from stackcost.report.peer_parts import whole_cost
from stackcost.report.plots.drawing import (
    BESIDE,
    KIND_COLOURS,
    key,
    labels,
    line,
    lying,
    panels,
    stack,
    styles,
    whiskers,
)
from stackcost.report.words import INTERVAL

PER_CONNECTION = "us of CPU per connection"
OFFERED = "offered connections/s"


def cost_by_system(servers: Sequence[ServerResult]) -> Figure:
    """One bar for each system at its headline: microseconds by kind, and the interval.

    Of a polling peer, the kernel's work on its cores comes after its own.
    """
    tops = [(server.name, level) for server in servers if (level := server.quoted)]
    levels = [level for _, level in tops]
    figure, axes = lying(len(tops))
    kinds = list(dict.fromkeys(kind for _, level in tops for kind in level.kinds("server_cpu")))
    bars = {
        kind: [_median(level.kinds("server_cpu").get(kind)) for _, level in tops] for kind in kinds
    }
    bars |= {BESIDE: [_beside(level) for _, level in tops]} if any(map(_beside, levels)) else {}
    stack(axes, [f"{name} at {level.load}" for name, level in tops], bars, lying=True)
    whiskers(axes, [whole_cost(level) for _, level in tops], lying=True)
    axes.set_xlabel(f"{PER_CONNECTION}, median and {INTERVAL}")
    key(figure, [axes])
    return figure


def cost_over_payload(servers: Sequence[ServerResult]) -> Figure | None:
    """Microseconds per connection over the response's length; None of a single length.

    Systems that differ only in the length are one line.
    """
    lines: dict[str, list[tuple[float, Spread]]] = {}
    for server in servers:
        level = server.quoted
        if level and server.response_bytes:
            name = server.without("response_bytes").name
            lines.setdefault(name, []).append((server.response_bytes, level["server_cpu_total"]))
    if len({length for points in lines.values() for length, _ in points}) < 2:
        return None
    figure, (axes,) = panels(1)
    for (name, points), style in zip(lines.items(), styles(), strict=False):
        line(axes, name, sorted(points, key=lambda point: point[0]), style)
    labels(axes, "response, bytes", PER_CONNECTION)
    key(figure, [axes])
    return figure


def cost_over_workers(servers: Sequence[ServerResult]) -> Figure | None:
    """Microseconds per connection over the number of workers; None of a single number."""
    lines: dict[str, list[tuple[float, Spread]]] = {}
    for server in servers:
        level, workers = server.quoted, server.settings.get("workers")
        if level and workers:
            name = server.without("workers").name
            lines.setdefault(name, []).append((int(workers), level["server_cpu_total"]))
    if len({workers for points in lines.values() for workers, _ in points}) < 2:
        return None
    figure, (axes,) = panels(1)
    for (name, points), style in zip(lines.items(), styles(), strict=False):
        line(axes, name, sorted(points, key=lambda point: point[0]), style)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    labels(axes, "workers", PER_CONNECTION)
    key(figure, [axes])
    return figure


def cores_by_kind(servers: Sequence[ServerResult]) -> Figure:
    """The use of each core's time at every load; median of the rounds."""
    servers = [server for server in servers if any(level.cores for level in server.levels)]
    figure, axes_list = panels(len(servers), same_scale=True)
    for axes, server in zip(axes_list, servers, strict=False):
        places = [
            (f"{core}\n{level.load}", shares)
            for core in sorted({core for level in server.levels for core in level.cores})
            for level in server.levels
            if (shares := level.cores.get(core))
        ]
        kinds = list(dict.fromkeys(kind for _, shares in places for kind in shares))
        ordered = [kind for kind in KIND_COLOURS if kind in kinds]
        ordered += [kind for kind in kinds if kind not in KIND_COLOURS]
        ordered.sort(key=lambda kind: kind == "idle")
        bars = {kind: [100 * shares.get(kind, 0.0) for _, shares in places] for kind in ordered}
        used = {kind: values for kind, values in bars.items() if max(values, default=0) > 0.05}
        stack(axes, [name for name, _ in places], used)
        axes.set_title(server.name, loc="left", fontsize=8)
        axes.tick_params(axis="x", labelsize=7)
        labels(axes, "core, offered connections/s", "% of the core's time")
    key(figure, axes_list, backwards=True)
    return figure


def _beside(level: Level) -> float:
    return sum(_median(spent) for spent in level.kinds("peer_kernel_cpu").values())


def _median(spread: Spread | None) -> float:
    """Unknown values are not drawn; the table next to the figure marks them as unknown."""
    return (spread.median or 0.0) if spread else 0.0
