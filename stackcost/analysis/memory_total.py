"""Bytes of one open flow, all kinds of memory that count together, by round."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from statistics import median
from typing import NamedTuple

from stackcost.analysis.core_time import has_peer
from stackcost.analysis.memory import Line, Merged, lines
from stackcost.analysis.readings import Readings

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
    counted = counted_kinds(list(fitted.values()), holds)
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


def counted_kinds(fitted: Sequence[dict[str, Line]], holds: Sequence[Readings]) -> list[str]:
    """The kinds of memory of which the total is the sum, of those that some round has."""
    kinds = {kind for found in fitted for kind in found}
    return [kind for kind in _wanted(kinds, holds) if kind in kinds]


def _wanted(kinds: Collection[str], holds: Sequence[Readings]) -> tuple[str, ...]:
    if "engine pools" in kinds:
        return OWN_STACK
    return ON_HEAP if any(has_peer(seen) for seen in holds) else KERNEL_STACK
