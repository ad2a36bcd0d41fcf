"""Holds of flows: the lines through their memory by round, and bytes of one open flow."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import NamedTuple

from stackcost.analysis.core_time import has_peer
from stackcost.analysis.memory import Line, Merged, cache_lines, lines, socket_lines
from stackcost.analysis.readings import Readings
from stackcost.analysis.slab_owners import Owned, owners

# What makes up the total. A peer's flows lie in its pools, and the pools inside its process or in
# hugepages: its process is shown beside them and not added. It has no kernel sockets: what the
# kernel's memory seems to do over its flows is the noise of the machine, and shown as that.
KERNEL_STACK = ("kernel slab", "socket buffers", "process")
OWN_STACK = ("engine pools",)
# TRex reports no pools of flows; it takes each flow from the heap (src/44bsd/flow_table.cpp).
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


@dataclass(frozen=True)
class HoldTrials:
    """The trials of one system in which flows were held open, in one state."""

    trials: Sequence[Readings]
    merged: Merged

    @cached_property
    def fitted(self) -> dict[int, dict[str, Line]]:
        """By round, the line of each kind of memory; rounds without any line are left out."""
        found = {number: lines(trials, self.merged) for number, trials in self._by_round.items()}
        return {number: each for number, each in found.items() if each}

    @cached_property
    def per_flow(self) -> PerFlow:
        """By round, the sum of the slopes that count.

        None when one of them is unknown, as the sum then is, and when the median of the sums is
        below zero: no flow gives memory back.
        """
        if unread := self._unread():
            return PerFlow(dict.fromkeys(self.fitted), unread)
        counted = self.counted
        sums = {
            number: sum(found[kind].slope for kind in counted)
            if set(counted) <= set(found)
            else None
            for number, found in self.fitted.items()
        }
        known = [total for total in sums.values() if total is not None]
        if known and median(known) < 0:
            return PerFlow(dict.fromkeys(sums), BELOW_NOTHING)
        return PerFlow(sums)

    @cached_property
    def caches(self) -> dict[int, dict[str, Line]]:
        """By round, the line of each slab cache."""
        return {n: cache_lines(trials, self.merged) for n, trials in self._by_round.items()}

    @cached_property
    def owners(self) -> dict[int, dict[str, dict[str, Owned]]]:
        """By round, cache and function, the objects that were followed, per flow."""
        return {number: owners(trials) for number, trials in self._by_round.items()}

    @cached_property
    def sockets(self) -> dict[int, dict[str, Line]]:
        """By round, the line of each place of TCP sockets."""
        return {number: socket_lines(trials) for number, trials in self._by_round.items()}

    @cached_property
    def _by_round(self) -> dict[int, list[Readings]]:
        rounds: dict[int, list[Readings]] = defaultdict(list)
        for seen in self.trials:
            rounds[seen.trial.round].append(seen)
        return rounds

    @property
    def counted(self) -> list[str]:
        """The kinds of which the total is the sum."""
        return [kind for kind in self._wanted() if kind in self.kinds]

    @property
    def kinds(self) -> list[str]:
        """The kinds of memory that any round has."""
        return list(dict.fromkeys(kind for found in self.fitted.values() for kind in found))

    def _unread(self) -> str:
        """Which kind that counts was to be read and never was, and why; empty if there is none."""
        for kind in self._wanted():
            reasons = (seen.why_unknown(READ_FROM.get(kind, "")) for seen in self.trials)
            if kind not in self.kinds and (why := next(filter(None, reasons), "")):
                return f"{kind}: {why}"
        return ""

    def _wanted(self) -> tuple[str, ...]:
        if "engine pools" in self.kinds:
            return OWN_STACK
        return ON_HEAP if any(has_peer(seen) for seen in self.trials) else KERNEL_STACK
