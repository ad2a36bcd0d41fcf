"""Figures of memory per open flow."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from stackcost.analysis.checks import ESTABLISHED
from stackcost.analysis.spread import Spread
from stackcost.analysis.summary import Memory, ServerResult
from stackcost.report.plots.drawing import (
    SERVER_COLOURS,
    bounds,
    key,
    labels,
    line,
    looks,
    lying,
    panels,
    stack,
    whiskers,
)
from stackcost.report.words import INTERVAL

PER_FLOW = "bytes per open flow"


def memory_by_system(servers: Sequence[ServerResult]) -> Figure:
    """One bar for each system: bytes per open flow by kind of memory, and the interval."""
    known = [(server.name, server.memory) for server in servers if server.memory]
    figure, axes = lying(len(known))
    kinds = list(dict.fromkeys(kind for _, memory in known for kind in memory.counted))
    bars = {kind: [_median(memory.per_flow.get(kind)) for _, memory in known] for kind in kinds}
    stack(axes, [name for name, _ in known], bars, lying=True)
    whiskers(axes, [memory.total for _, memory in known], lying=True)
    axes.set_xlabel(f"{PER_FLOW}, slope and {INTERVAL}")
    key(figure, [axes])
    return figure


def memory_over_flows(servers: Sequence[ServerResult]) -> Figure:
    """Memory above its level without flows, over open flows; every round's reading is a point."""
    with_memory = [server for server in servers if server.memory]
    figure, axes_list = panels(len(with_memory))
    for axes, server in zip(axes_list, with_memory, strict=False):
        memory = server.memory
        assert memory is not None
        for colour, kind in zip(SERVER_COLOURS, memory.counted, strict=False):
            slope, start = memory.per_flow[kind].median, memory.at_no_flow[kind].median
            if slope is None or start is None:
                continue
            flows = [count for count, _ in memory.points[kind]]
            above = [(size - start) / 2**20 for _, size in memory.points[kind]]
            axes.plot(flows, above, "o", color=colour, markersize=4, alpha=0.7)
            ends = [0.0, max(flows)]
            axes.plot(
                ends,
                [slope * count / 2**20 for count in ends],
                color=colour,
                label=f"{kind}: {slope:,.0f} B",
            )
        axes.set_title(server.name, loc="left", fontsize=8)
        axes.legend(frameon=False, fontsize=7, title="per flow", title_fontsize=7)
        labels(axes, "open flows", "MiB above no flow")
    return figure


def memory_by_state(servers: Sequence[ServerResult]) -> Figure | None:
    """Bytes per flow by the flows' state; None where only established ones were held."""
    with_states = [server for server in servers if server.states]
    if not with_states:
        return None
    figure, (axes,) = panels(1)
    states = list(dict.fromkeys([ESTABLISHED, *(s for each in with_states for s in each.states)]))
    for server, look in zip(with_states, looks(), strict=False):
        memories: dict[str, Memory | None] = {ESTABLISHED: server.memory, **server.states}
        points = [
            (float(place), memory.total)
            for place, state in enumerate(states)
            if (memory := memories.get(state)) and bounds(memory.total)
        ]
        line(axes, server.name, points, look | {"linestyle": "none"})
    axes.set_xticks(range(len(states)), states)
    labels(axes, "state of the flows", PER_FLOW)
    key(figure, [axes])
    return figure


def caches_by_system(servers: Sequence[ServerResult], shown: int = 7) -> Figure | None:
    """The kernel's slab by cache, bytes per open flow; None where no cache grew."""
    rows = [
        (server.name, {name: _median(spread) for name, spread in server.memory.caches.items()})
        for server in servers
        if server.memory and any(_median(s) >= 1 for s in server.memory.caches.values())
    ]
    if not rows:
        return None
    figure, axes = lying(len(rows))
    sums: dict[str, float] = {}
    for _, caches in rows:
        for name, value in caches.items():
            sums[name] = sums.get(name, 0.0) + max(0.0, value)
    largest = sorted((name for name in sums if sums[name] >= 1), key=lambda name: -sums[name])
    bars = {
        name: [max(0.0, caches.get(name, 0.0)) for _, caches in rows] for name in largest[:shown]
    }
    if largest[shown:]:
        bars["others"] = [sum(max(0.0, c.get(n, 0.0)) for n in largest[shown:]) for _, c in rows]
    stack(axes, [name for name, _ in rows], bars, lying=True)
    axes.set_xlabel(f"{PER_FLOW}, medians")
    key(figure, [axes])
    return figure


def _median(spread: Spread | None) -> float:
    return (spread.median or 0.0) if spread else 0.0
