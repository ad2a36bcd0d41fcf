"""Seconds of one CPU by kind inside a window, such that the kinds close to the window's length.

Softirq, interrupt and idle time are exact (`CpuAccount`). Task time is exact too; unless it was
split at system calls, it is divided as the window's samples of stacks are, or as in the warm-up,
which was split. Trials that lack both, as old ones do, are divided by the ratio of the kernel's
ticks. Those are a sample: of n ticks the share p has a standard error of sqrt(p (1 - p) / n), and a
load that keeps time with the tick is always seen at the same point.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from stackcost.analysis.window import growth, known_values
from stackcost.contracts.metrics import CPU_EXACT_TIME, CPU_TIME, CPU_TRACED_TIME, TASK_TIME
from stackcost.contracts.sample import Metric, Sample
from stackcost.contracts.window import Window


@dataclass(frozen=True, slots=True)
class CpuSeconds:
    """Seconds of one CPU in a window; None for what is not known.

    `idle`: all of the idle task. `idle_entry`, `idle_exit`: the parts of it outside of idle states.
    `residue`: the window's length less all the others; 0 when the account closes. `stolen`: what
    the hypervisor took, which lies inside the others, as the guest's tracepoints cannot see it.
    """

    user: float | None
    system: float | None
    irq: float | None
    softirq: float | None
    idle: float | None
    idle_entry: float | None
    idle_exit: float | None
    residue: float | None
    stolen: float | None


def cpu_seconds(
    samples: Sequence[Sample], window: Window, cpu: int, user_share: float | None = None
) -> CpuSeconds:
    """Seconds of one CPU by kind, from samples of `CpuAccount` and `CpuTime`.

    `user_share`: of its tasks' time, by samples of stacks; None if they do not tell it.
    """
    traced = {kind: _level(samples, CPU_TRACED_TIME, cpu, kind) for kind in ("user", "system")}
    ticks = {
        kind: _growth(samples, window, CPU_TIME, cpu, kind)
        for kind in ("user", "nice", "system", "steal")
    }
    irq, softirq, resting, entry, exit_, task, user, system = (
        _growth(samples, window, CPU_EXACT_TIME, cpu, kind)
        for kind in (
            *("irq", "softirq", "idle", "idle entry", "idle exit"),
            *("task", "user", "system"),
        )
    )
    idle = None if resting is None else resting + (entry or 0.0) + (exit_ or 0.0)
    if task is not None:
        share = user_share
        if share is None:
            share = _share(traced["user"], traced["system"])
        if share is None:
            share = _share(_sum(ticks["user"], ticks["nice"]), ticks["system"])
        user = None if share is None else task * share
        system = None if share is None else task * (1 - share)
    elif user is not None and system is not None:
        task = user + system
    whole = _sum(task, irq, softirq, idle)
    residue = None if whole is None else window.length - whole
    return CpuSeconds(user, system, irq, softirq, idle, entry, exit_, residue, ticks["steal"])


def seconds_by_process(
    samples: Sequence[Sample], window: Window, cpu: int
) -> dict[tuple[int, str], float]:
    """Exact seconds on one CPU by process id and command: who else ran on the server's core.

    Threads that first ran inside the window count from zero. Empty when not read.
    """
    series: dict[tuple[str, ...], list[Sample]] = defaultdict(list)
    for sample in samples:
        labels = sample.labels
        if sample.metric == TASK_TIME.name and labels.get("cpu") == str(cpu):
            series[labels["process"], labels["thread"], labels["kind"]].append(sample)
    found: dict[tuple[int, str], float] = defaultdict(float)
    for readings in series.values():
        if readings[0].time > window.start:
            readings.insert(0, readings[0]._replace(time=window.start, value=0.0))
        key = int(readings[-1].labels["process"]), readings[-1].labels["command"]
        found[key] += growth(known_values(readings), window) or 0.0
    return {process: seconds for process, seconds in found.items() if seconds > 0}


def _growth(
    samples: Sequence[Sample], window: Window, metric: Metric, cpu: int, kind: str
) -> float | None:
    labels = {"cpu": str(cpu), "kind": kind}
    series = (s for s in samples if s.metric == metric.name and s.labels == labels)
    return growth(known_values(series), window)


def _level(samples: Sequence[Sample], metric: Metric, cpu: int, kind: str) -> float | None:
    """Of a metric that a trial has once; None where it is not known."""
    labels = {"cpu": str(cpu), "kind": kind}
    found = (s.value for s in samples if s.metric == metric.name and s.labels == labels)
    return next(found, None)


def _share(part: float | None, rest: float | None) -> float | None:
    """Share of `part` in both; a core that had no tick in a task has no task time to speak of."""
    whole = _sum(part, rest)
    if part is None or whole is None:
        return None
    return part / whole if whole else 0.0


def _sum(*parts: float | None) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None
