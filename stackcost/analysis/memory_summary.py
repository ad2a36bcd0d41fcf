"""Memory lines of every round brought together for one server."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from stackcost.analysis.core_time import has_peer
from stackcost.analysis.memory import Line, Merged, cache_lines, lines, socket_lines
from stackcost.analysis.readings import Readings
from stackcost.analysis.spread import Spread, spread
from stackcost.analysis.summary import Memory

# What makes up the total. A peer's flows lie in its pools, and the pools inside its process or in
# hugepages: its process is shown beside them and not added. It has no kernel sockets: what the
# kernel's memory seems to do over its flows is the noise of the machine, and shown as that.
KERNEL_STACK = ("kernel slab", "socket buffers", "process")
OWN_STACK = ("engine pools",)
# TRex tells of no pools of flows; it takes each flow from the heap (src/44bsd/flow_table.cpp).
ON_HEAP = ("process",)
READ_FROM = {
    "kernel slab": "slab.bytes",
    "socket buffers": "sockstat.memory",
    "process": "process.pss",
}
BELOW_NOTHING = "the sum of the slopes is negative: this is noise, not memory of flows"
SHOWN_CACHES = 12


def summarise_memory(holds: Sequence[Readings], merged: Merged) -> Memory | None:
    """Slopes and intercepts by kind of memory, one value per round; None without any line."""
    fitted = {
        number: found for number, t in _by_round(holds).items() if (found := lines(t, merged))
    }
    if not fitted:
        return None
    kinds = list(dict.fromkeys(kind for found in fitted.values() for kind in found))
    each_round, why = bytes_per_flow(holds, merged)
    return Memory(
        per_flow=_each(fitted, kinds, "slope", "B"),
        at_no_flow=_each(fitted, kinds, "intercept", "B"),
        counted=_counted(list(fitted.values()), holds),
        total=spread(list(each_round.values()), "B", why, list(each_round)),
        straightness=_each(fitted, kinds, "r_squared", "1"),
        caches=_largest_caches(
            {number: cache_lines(trials, merged) for number, trials in _by_round(holds).items()}
        ),
        sockets=_sockets({number: socket_lines(t) for number, t in _by_round(holds).items()}),
        points={
            kind: [
                point for found in fitted.values() if kind in found for point in found[kind].points
            ]
            for kind in kinds
        },
    )


class PerFlow(NamedTuple):
    """Bytes by round; None where unknown, and then why."""

    by_round: dict[int, float | None]
    reason: str = ""


def bytes_per_flow(holds: Sequence[Readings], merged: Merged) -> PerFlow:
    """By round, the sum of the slopes that count.

    None when one of them is unknown, as the sum then is, and when the median of the sums is below
    zero: no flow gives memory back.
    """
    fitted = {
        number: found for number, t in _by_round(holds).items() if (found := lines(t, merged))
    }
    if unread := _unread(holds, list(fitted.values())):
        return PerFlow(dict.fromkeys(fitted), unread)
    counted = _counted(list(fitted.values()), holds)
    sums = {
        number: sum(found[kind].slope for kind in counted) if set(counted) <= set(found) else None
        for number, found in fitted.items()
    }
    known = [total for total in sums.values() if total is not None]
    if known and median(known) < 0:
        return PerFlow(dict.fromkeys(sums), BELOW_NOTHING)
    return PerFlow(sums)


def _unread(holds: Sequence[Readings], fitted: Sequence[dict[str, Line]]) -> str:
    """Which kind that counts was to be read and never was, and why; empty when there is none."""
    kinds = {kind for found in fitted for kind in found}
    for kind in _wanted(kinds, holds):
        reasons = (seen.why_unknown(READ_FROM.get(kind, "")) for seen in holds)
        if kind not in kinds and (why := next(filter(None, reasons), "")):
            return f"{kind}: {why}"
    return ""


def _by_round(holds: Sequence[Readings]) -> dict[int, list[Readings]]:
    rounds: dict[int, list[Readings]] = defaultdict(list)
    for seen in holds:
        rounds[seen.trial.round].append(seen)
    return rounds


def _counted(fitted: Sequence[dict[str, Line]], holds: Sequence[Readings]) -> list[str]:
    kinds = {kind for found in fitted for kind in found}
    return [kind for kind in _wanted(kinds, holds) if kind in kinds]


def _wanted(kinds: Collection[str], holds: Sequence[Readings]) -> tuple[str, ...]:
    if "engine pools" in kinds:
        return OWN_STACK
    return ON_HEAP if any(has_peer(seen) for seen in holds) else KERNEL_STACK


def _each(
    fitted: Mapping[int, dict[str, Line]], kinds: Collection[str], part: str, unit: str
) -> dict[str, Spread]:
    """By kind; of each the rounds that have it."""
    return {
        kind: spread(
            [getattr(found[kind], part) if kind in found else None for found in fitted.values()],
            unit,
            rounds=list(fitted),
        )
        for kind in kinds
    }


def _sockets(fitted: Mapping[int, dict[str, Line]]) -> dict[str, Spread]:
    places = dict.fromkeys(place for found in fitted.values() for place in found)
    return _each(fitted, list(places), "slope", "1")


def _largest_caches(fitted: Mapping[int, dict[str, Line]]) -> dict[str, Spread]:
    names = {name for found in fitted.values() for name in found}
    slopes = _each(fitted, names, "slope", "B")
    largest = sorted(sorted(slopes), key=lambda name: abs(slopes[name].median or 0), reverse=True)
    return {name: slopes[name] for name in largest[:SHOWN_CACHES]}
