"""Figures of CPU time per connection and memory per flow, of systems and of what paths add."""

import textwrap
from collections.abc import Sequence
from itertools import cycle

import pandas
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from stackcost.analysis.spread import Spread, bounds
from stackcost.analysis.summary import Factor, Level, ServerResult
from stackcost.contracts.load import ESTABLISHED
from stackcost.report.plots import (
    BESIDE,
    KIND_COLOURS,
    OTHER_COLOUR,
    SERVER_COLOURS,
    key,
    labels,
    line,
    lying,
    panels,
    stack,
    styles,
    whiskers,
)
from stackcost.report.words import INTERVAL, pair

PER_FLOW = "bytes per open flow"


def memory_by_system(servers: Sequence[ServerResult]) -> Figure:
    """One bar for each system: bytes per open flow by kind of memory, and the interval."""
    known = [(server.name, server.memory) for server in servers if server.memory]
    figure, axes = lying(len(known))
    kinds = list(dict.fromkeys(kind for _, memory in known for kind in memory.counted))
    bars = {
        kind: [
            _median(memory.kinds("memory.per_flow")[kind]) if kind in memory.counted else 0.0
            for _, memory in known
        ]
        for kind in kinds
    }
    stack(axes, [name for name, _ in known], bars, lying=True)
    whiskers(axes, [memory["memory.total"] for _, memory in known])
    axes.set_xlabel(f"{PER_FLOW}, slope and {INTERVAL}")
    key(figure, [axes])
    return figure


def memory_by_state(servers: Sequence[ServerResult]) -> Figure | None:
    """Bytes per flow by the flows' state; None if only established flows were held."""
    with_states = [server for server in servers if server.memories.keys() - {ESTABLISHED}]
    if not with_states:
        return None
    figure, (axes,) = panels(1)
    states = list(dict.fromkeys([ESTABLISHED, *(s for each in with_states for s in each.memories)]))
    for server, style in zip(with_states, styles(), strict=False):
        points = [
            (float(place), memory["memory.total"])
            for place, state in enumerate(states)
            if (memory := server.memories.get(state)) and bounds(memory["memory.total"])
        ]
        line(axes, server.name, points, style | {"linestyle": "none"})
    axes.set_xticks(range(len(states)), states)
    labels(axes, "state of the flows", PER_FLOW)
    key(figure, [axes])
    return figure


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


PER_CONNECTION = "us of CPU per connection"


def cost_by_system(servers: Sequence[ServerResult]) -> Figure:
    """One bar for each system at its headline: microseconds by kind, and the interval.

    Of a polling peer, the kernel's work on its cores comes after its own.
    """
    tops = [(server.name, level) for server in servers if (level := server.quoted)]
    levels = [level for _, level in tops]
    figure, axes = lying(len(tops))
    kinds = list(dict.fromkeys(kind for _, level in tops for kind in level.costs))
    bars = {kind: [_median(level.costs.get(kind)) for _, level in tops] for kind in kinds}
    bars |= {BESIDE: [_beside(level) for _, level in tops]} if any(map(_beside, levels)) else {}
    stack(axes, [f"{name} at {level.load}" for name, level in tops], bars, lying=True)
    whiskers(axes, [level.cost for _, level in tops])
    axes.set_xlabel(f"{PER_CONNECTION}, median and {INTERVAL}")
    key(figure, [axes])
    return figure


VARIED = {"response_bytes": "response, bytes", "workers": "workers"}


def cost_over(servers: Sequence[ServerResult], setting: str) -> Figure | None:
    """Microseconds per connection over the response's length, or over the number of workers; None
    of a single one.

    Systems that differ only in it are one line.
    """
    lines: dict[str, list[tuple[float, Spread]]] = {}
    for server in servers:
        level, value = server.quoted, server.settings.get(setting)
        if setting == "response_bytes":
            value = server.response_bytes
        if level and value:
            name = server.without(setting).name
            lines.setdefault(name, []).append((int(value), level.cost))
    if len({value for points in lines.values() for value, _ in points}) < 2:
        return None
    figure, (axes,) = panels(1)
    for (name, points), style in zip(lines.items(), styles(), strict=False):
        line(axes, name, sorted(points, key=lambda point: point[0]), style)
    if setting == "workers":
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    labels(axes, VARIED[setting], PER_CONNECTION)
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
