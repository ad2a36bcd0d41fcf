"""How often the server's cores were found in which stack, and the share of user mode among them.

A traced step at a system call takes time of its own, of which a part is booked as user mode. A
sample takes nothing at a call. So where a window has enough samples they say what its tasks' exact
time was: a program of calls alone was booked 53 to 59 % of user mode by tracing, and 2 to 9 % by
samples (tests/collect/test_user_share.py).
"""

import re
from bisect import bisect_left
from collections.abc import Collection
from typing import NamedTuple

from stackcost.analysis.readings import Readings, kept
from stackcost.analysis.trial.thresholds import SHARE_SAMPLES
from stackcost.contracts.metrics import RETURNS, STACK_FIRED, STACK_SAMPLES
from stackcost.contracts.sample import Sample

TASKS = ("user", "system")
IN_KERNEL = re.compile(f"asm_|entry_|.*;{re.escape(RETURNS)}$")


class StackCount(NamedTuple):
    """How often a stack was found: its `kind` as of the exact account, and who ran."""

    kind: str
    process: str
    command: str
    stack: str
    times: float

    @property
    def in_user_mode(self) -> bool:
        """Whether a task was in user mode itself, and not on its way to the kernel or back."""
        return self.kind == "user" and not IN_KERNEL.match(self.stack)


@kept
def stacks(readings: Readings) -> list[StackCount]:
    """What the server's side was found in, on its cores, in a phase; idle polling too.

    Stacks are read right after the CPU time at an edge. So between two readings a count is taken to
    grow evenly, as all counters are: `times` need not be whole.
    """
    window = readings.window
    moments = sorted({each.time for each in readings.samples(STACK_SAMPLES, STACK_FIRED)})
    if window is None or not moments:
        return []
    start, end = (_place(edge, moments) for edge in (window.start, window.end))
    wanted, found = set(map(str, readings.cpus)), []
    for series in readings.series(STACK_SAMPLES):
        labels = series[0].labels
        if labels.get("cpu") not in wanted:
            continue
        count = _count_at(series, end) - _count_at(series, start)
        if count > 0:
            process, command = labels["process"], labels["command"]
            found.append(StackCount(labels["kind"], process, command, labels["stack"], count))
    return found


def sampled_user_share(
    readings: Readings, processes: Collection[str] | None = None
) -> float | None:
    """Share (0 to 1) of user mode in the samples of tasks on some cores in a phase.

    `processes`: those of these alone; None: of all tasks. None with fewer than SHARE_SAMPLES.
    """
    found = [
        each
        for each in stacks(readings)
        if each.kind in TASKS and (processes is None or each.process in processes)
    ]
    whole = sum(each.times for each in found)
    if whole < SHARE_SAMPLES:
        return None
    return sum(each.times for each in found if each.in_user_mode) / whole


class Place(NamedTuple):
    """Where a moment lies: the readings around it, and how far it is from the first (0 to 1)."""

    before: float
    after: float
    share: float


def _place(moment: float, moments: list[float]) -> Place:
    """Before the first and after the last of these readings: at it."""
    at = bisect_left(moments, moment)
    before, after = moments[max(at - 1, 0)], moments[min(at, len(moments) - 1)]
    share = (moment - before) / (after - before) if after > before else 0.0
    return Place(before, after, share)


def _count_at(series: list[Sample], place: Place) -> float:
    before = _count(series, place.before)
    return before + place.share * (_count(series, place.after) - before)


def _count(series: list[Sample], moment: float) -> float:
    """As of a reading. It tells of those stacks alone that were seen since the one before it, and
    of the others the count has not changed.

    The first holds before as well: counts are of a whole session, and a stack that was seen in an
    earlier trial begins with the count that it had there.
    """
    known = [s for s in series if s.time <= moment] or series[:1]
    return max(s.value or 0.0 for s in known)
