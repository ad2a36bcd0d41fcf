"""How the exact time of tasks divides into user and system mode: one rule, whoever's time it is."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from stackcost.analysis.cost.stack_counts import TASKS, sampled_user_share
from stackcost.analysis.cost.threads import seconds_of_threads
from stackcost.analysis.readings import Readings, sum_of
from stackcost.contracts import metrics
from stackcost.contracts.http import SecondsByMode

# Of the server's processes, and of those behind a device.
PROCESS_TIMES = (metrics.PROCESS_CPU_TIME, metrics.BACKEND_CPU_TIME)
Processes = Collection[str] | None


def divided(
    readings: Readings,
    seconds: float | None,
    processes: Processes = None,
    told: SecondsByMode | None = None,
) -> tuple[float | None, float | None]:
    """Seconds in user and in system mode of so many of some processes, of all tasks if None, on
    some cores. None where these seconds, or how they divide, are not known; no time divides.

    `told`: "user" and "system" of these processes over another time, by the kernel's account.
    """
    if not seconds:
        return seconds, seconds
    share = next(_shares(readings, processes, told or {}), None)
    return (None, None) if share is None else (seconds * share, seconds * (1 - share))


def is_divided_by_account(readings: Readings) -> bool:
    """Whether the exact account split the time of tasks at system calls for the whole trial."""
    return bool(readings.series(metrics.CPU_EXACT_TIME, kind="user"))


def _shares(readings: Readings, processes: Processes, told: SecondsByMode) -> Iterator[float]:
    """Shares (0 to 1) of user mode that are known, the best first.

    By the exact account, if it split the time of tasks at system calls; by the phase's own samples
    of stacks, if they are enough; as in the traced warm-up, which is too high; by the kernel's
    account. Its ticks are a sample: of n ticks the share p has a standard error of
    sqrt(p (1 - p) / n), and a load that keeps time with the tick is always seen at the same point.
    """
    yield from _of(_exact(readings, processes))
    sampled = sampled_user_share(readings, processes)
    if sampled is not None:
        yield sampled
    for seconds in (_traced(readings, processes), _ticks(readings, processes), told):
        yield from _of(seconds)


def _of(seconds: Mapping[Any, float | None]) -> Iterator[float]:
    """The share, if time in both modes is known, and there is any."""
    user, system = (seconds.get(mode) for mode in TASKS)
    if user is not None and system is not None and user + system:
        yield user / (user + system)


def _exact(readings: Readings, processes: Processes) -> dict[str, float]:
    """Of processes alone: the account of a core that is divided has no time to divide."""
    found: dict[str, float] = {}
    for thread, spent in seconds_of_threads(readings).items():
        if thread.process in (processes or ()):
            found[thread.kind] = found.get(thread.kind, 0.0) + spent
    return found


def _traced(readings: Readings, processes: Processes) -> dict[str, float]:
    """Of the warm-up, which is read once."""
    found: dict[str, float] = {}
    metric, label = metrics.TASK_TRACED_TIME, "process"
    if processes is None:
        metric, label = metrics.CPU_TRACED_TIME, "cpu"
        processes = list(map(str, readings.cpus))
    for sample in readings.samples(metric):
        if sample.value is not None and sample.labels[label] in processes:
            mode = sample.labels["kind"]
            found[mode] = found.get(mode, 0.0) + sample.value
    return found


def _ticks(readings: Readings, processes: Processes) -> dict[str, float | None]:
    """Of processes those that ran on these cores, wherever they ran."""
    if processes is None:
        by_kind = (
            [readings.growth(metrics.CPU_TIME, cpu=str(cpu), kind=kind) for cpu in readings.cpus]
            for kind in ("user", "nice", "system")
        )
        user, nice, system = map(sum_of, by_kind)
        return {"user": sum_of([user, nice]), "system": system}
    ran = {each.process for each in seconds_of_threads(readings)} & set(processes)
    return {
        mode: sum(
            readings.growth(metric, kind=mode, process=process) or 0.0
            for process in ran
            for metric in PROCESS_TIMES
        )
        for mode in TASKS
    }
