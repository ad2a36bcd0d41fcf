"""Figures of memory per open flow."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from stackcost.analysis.spread import Spread, bounds
from stackcost.analysis.summary import ServerResult
from stackcost.contracts.load import ESTABLISHED
from stackcost.report.plots.drawing import (
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
    whiskers(axes, [memory["memory.total"] for _, memory in known], lying=True)
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


def _median(spread: Spread | None) -> float:
    return (spread.median or 0.0) if spread else 0.0
