"""Memory lines of every round brought together for one server."""

from collections import defaultdict
from collections.abc import Sequence

from harness.analysis.memory import Line, Merged, cache_lines, lines
from harness.analysis.readings import Readings
from harness.analysis.spread import Spread, spread
from harness.analysis.summary import Memory

# What makes up the total. A peer's flows lie in its pools, and the pools inside its process or in
# hugepages: its process is shown beside them and not added. It has no kernel sockets: what the
# kernel's memory seems to do over its flows is the noise of the machine, and shown as that.
KERNEL_STACK = ("kernel slab", "socket buffers", "process")
OWN_STACK = ("engine pools",)
SHOWN_CACHES = 12


def summarise_memory(holds: Sequence[Readings], merged: Merged) -> Memory | None:
    """Slopes and intercepts by kind of memory, one value per round; None without any line."""
    fitted = [found for t in _by_round(holds).values() if (found := lines(t, merged))]
    if not fitted:
        return None
    kinds = list(dict.fromkeys(kind for found in fitted for kind in found))
    return Memory(
        per_flow=_each(fitted, kinds, "slope", "B"),
        at_no_flow=_each(fitted, kinds, "intercept", "B"),
        counted=_counted(fitted),
        total=spread(list(bytes_per_flow(holds, merged).values()), "B"),
        straightness=_each(fitted, kinds, "r_squared", "1"),
        caches=_largest_caches([cache_lines(trials) for trials in _by_round(holds).values()]),
        points={
            kind: [point for found in fitted if kind in found for point in found[kind].points]
            for kind in kinds
        },
    )


def bytes_per_flow(holds: Sequence[Readings], merged: Merged) -> dict[int, float | None]:
    """By round, the sum of the slopes that count; None when one of them is unknown."""
    fitted = {
        number: found for number, t in _by_round(holds).items() if (found := lines(t, merged))
    }
    counted = _counted(list(fitted.values()))
    return {
        number: sum(found[kind].slope for kind in counted) if set(counted) <= set(found) else None
        for number, found in fitted.items()
    }


def _by_round(holds: Sequence[Readings]) -> dict[int, list[Readings]]:
    rounds: dict[int, list[Readings]] = defaultdict(list)
    for seen in holds:
        rounds[int(seen.trial.load["round"])].append(seen)
    return rounds


def _counted(fitted: Sequence[dict[str, Line]]) -> list[str]:
    kinds = {kind for found in fitted for kind in found}
    wanted = OWN_STACK if "engine pools" in kinds else KERNEL_STACK
    return [kind for kind in wanted if kind in kinds]


def _each(
    fitted: Sequence[dict[str, Line]], kinds: Sequence[str], part: str, unit: str
) -> dict[str, Spread]:
    return {
        kind: spread([getattr(found[kind], part) for found in fitted if kind in found], unit)
        for kind in kinds
    }


def _largest_caches(fitted: Sequence[dict[str, Line]]) -> dict[str, Spread]:
    names = {name for found in fitted for name in found}
    slopes = {
        name: spread([found[name].slope for found in fitted if name in found], "B")
        for name in names
    }
    largest = sorted(slopes, key=lambda name: abs(slopes[name].median or 0), reverse=True)
    return {name: slopes[name] for name in largest[:SHOWN_CACHES]}
