"""Holds of flows: the lines through their memory by round, and bytes of one open flow."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import NamedTuple

from stackcost.analysis.cost.core_time import has_peer
from stackcost.analysis.memory.memory import (
    Line,
    Merged,
    cache_lines,
    held_flows,
    lines,
    socket_lines,
)
from stackcost.analysis.memory.slab import is_of_connection
from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.thresholds import HELD_LIMIT, SOCKETS_LIMIT
from stackcost.analysis.why.function_table import table
from stackcost.contracts import metrics
from stackcost.contracts.system import is_device

OTHERS = "others"
SHOWN_SHARE = 0.02  # of a cache: owners of less are added up


class Owned(NamedTuple):
    """Objects of one cache that a function allocated, per flow: left, and freed again."""

    left: float
    passed: float


def owners(holds: Sequence[Readings]) -> dict[str, dict[str, Owned]]:
    """By cache and function, over all holds of a round; empty where nothing was followed.

    How many bytes of a cache a flow takes is exact: the slope of the cache. Its owners' shares are
    those of the objects that were allocated on the server's cores while flows were opened, and were
    left when memory was read; some of these were followed, drawn at random.
    """
    counted: dict[str, dict[str, list[float]]] = defaultdict(
        lambda: defaultdict(lambda: [0.0, 0.0])
    )
    flows = sum(held_flows(readings) for readings in holds)
    for readings in holds:
        for place, metric in enumerate((metrics.SLAB_LEFT, metrics.SLAB_PASSED)):
            for sample in readings.samples(metric):
                if sample.value:
                    cache, stack = sample.labels["cache"], sample.labels["stack"]
                    counted[cache][table().owner(stack)][place] += sample.value
    return {
        cache: {name: Owned(*(each / flows for each in counts)) for name, counts in found.items()}
        for cache, found in counted.items()
        if flows
    }


def shares(found: dict[str, Owned]) -> dict[str, float]:
    """Share (0 to 1) of the objects left of one cache by function, the largest first; small ones
    are "others".
    """
    whole = sum(each.left for each in found.values())
    if not whole:
        return {}
    every = {name: each.left / whole for name, each in found.items()}
    named = {name: share for name, share in every.items() if share >= SHOWN_SHARE}
    ordered = dict(sorted(named.items(), key=lambda item: -item[1]))
    rest = 1 - sum(named.values())
    return ordered | ({OTHERS: rest} if rest > 1e-9 else {})


# What makes up the total. A peer's flows lie in its pools, and the pools inside its process or in
# hugepages: its process is shown beside them and not added. It has no kernel sockets: what the
# kernel's memory seems to do over its flows is the noise of the machine, and shown as that.
KERNEL_STACK = ("kernel slab", "socket buffers", "process")
OWN_STACK = ("engine pools",)
# TRex reports no pools of flows; it takes each flow from the heap (src/44bsd/flow_table.cpp).
ON_HEAP = ("process",)
READ_FROM = {
    "kernel slab": metrics.SLAB_BYTES,
    "socket buffers": metrics.SOCKSTAT_MEMORY,
    "process": metrics.PROCESS_PSS,
}
BELOW_NOTHING = "the sum of the slopes is negative: this is noise, not memory of flows"
BELOW_A_BYTE = "less than a byte for each flow: this is noise, and no flow has memory of its own"


class PerFlow(NamedTuple):
    """Bytes by round; None where unknown, and then why."""

    by_round: dict[int, float | None]
    reason: str = ""


@dataclass(frozen=True)
class HoldTrials:
    """The trials of one system in which flows were held open, in one state.

    `not_opened`: why flows of further trials did not open.
    """

    trials: Sequence[Readings]
    merged: Merged
    not_opened: Sequence[str] = ()

    @cached_property
    def fitted(self) -> dict[int, dict[str, Line]]:
        """By round, the line of each kind of memory; rounds without any line are left out, and
        those whose lines are of something else than flows (`why_not_of_flows`).
        """
        return {n: each for n, each in self._lines.items() if n not in self.why_not_of_flows}

    @cached_property
    def why_not_of_flows(self) -> dict[int, str]:
        """By round, why a slope over its flows is no memory of one flow; sound rounds are absent.

        A flow has one socket of a server on the kernel's stack, and some whole number of a proxy's.
        Devices have none, or share theirs between flows.
        """
        found = {number: _not_held(trials) for number, trials in self._by_round.items()}
        device = any(_is_device(readings) for readings in self.trials)
        if self._wanted() == KERNEL_STACK and not device:
            for number, places in self.sockets.items():
                found[number] = found[number] or _sockets_are_no_flows(places)
        return {number: why for number, why in found.items() if why}

    @cached_property
    def _lines(self) -> dict[int, dict[str, Line]]:
        found = {number: lines(trials, self.merged) for number, trials in self._by_round.items()}
        return {number: each for number, each in found.items() if each}

    @cached_property
    def per_flow(self) -> PerFlow:
        """By round, the sum of the slopes that count.

        None when one of them is unknown, as the sum then is, and when the median of the sums is
        below one byte, as of a router that tracks no flows.
        """
        if unread := self._unread():
            return PerFlow(dict.fromkeys(self.fitted), unread)
        if not self.fitted:
            reasons = [*self.why_not_of_flows.values(), *self.not_opened]
            return PerFlow({}, reasons[0] if reasons else "")
        counted = self.counted
        sums = {
            number: sum(found[kind].slope for kind in counted)
            if set(counted) <= set(found)
            else None
            for number, found in self.fitted.items()
        }
        known = [total for total in sums.values() if total is not None]
        if known and median(known) < 1:
            why = BELOW_NOTHING if median(known) < 0 else BELOW_A_BYTE
            return PerFlow(dict.fromkeys(sums), why)
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
        for readings in self.trials:
            rounds[readings.trial.round].append(readings)
        return rounds

    @property
    def counted(self) -> list[str]:
        """The kinds of which the total is the sum."""
        return [kind for kind in self._wanted() if kind in self.kinds]

    @property
    def kinds(self) -> list[str]:
        """The kinds of memory that any round has."""
        return list(dict.fromkeys(kind for found in self.fitted.values() for kind in found))

    @property
    def counted_caches(self) -> list[str]:
        """The kernel's slab caches that are in the total."""
        if "kernel slab" not in self.counted:
            return []
        every = dict.fromkeys(cache for found in self.caches.values() for cache in found)
        return [cache for cache in every if is_of_connection(cache, self.merged)]

    def _unread(self) -> str:
        """Which kind that counts was to be read and never was, and why; empty if there is none."""
        for kind in self._wanted():
            if kind in self._every_kind or kind not in READ_FROM:
                continue
            reasons = (readings.why_unknown(READ_FROM[kind]) for readings in self.trials)
            if why := next(filter(None, reasons), ""):
                return f"{kind}: {why}"
        return ""

    @cached_property
    def _every_kind(self) -> set[str]:
        return {kind for found in self._lines.values() for kind in found}

    def _wanted(self) -> tuple[str, ...]:
        if "engine pools" in self._every_kind:
            return OWN_STACK
        return ON_HEAP if any(has_peer(readings) for readings in self.trials) else KERNEL_STACK


def _is_device(readings: Readings) -> bool:
    """By the suite's name for it; one of the user's own by the frames that were counted at it."""
    return is_device(readings.trial.server) or readings.trial.traffic.frames is not None


def _not_held(trials: Sequence[Readings]) -> str:
    """Which flows of a round were not held as asked for; empty if all were."""
    for readings in trials:
        asked, held = readings.trial.traffic.open_flows or 0, held_flows(readings)
        if abs(held - asked) > HELD_LIMIT * asked:
            return f"{held:,.0f} of {asked:,} flows were held"
    return ""


def _sockets_are_no_flows(places: Mapping[str, Line]) -> str:
    """What the sockets of a round's flows are, if they are not some whole number for each."""
    if "own" not in places:
        return ""
    each = places["own"].slope
    if each > 0.5 and abs(each - round(each)) <= SOCKETS_LIMIT * each:
        return ""
    return f"{each:.2f} TCP sockets for each flow held: memory of other sockets is in it"
