"""CPU time of threads on some cores in a phase, also of those that first ran in it."""

from bisect import bisect_left
from collections import defaultdict
from typing import NamedTuple

from stackcost.analysis.readings import Readings, kept
from stackcost.analysis.window import growth, known_values
from stackcost.contracts.metrics import TASK_TIME
from stackcost.contracts.sample import Sample


class Thread(NamedTuple):
    """A thread on one core. `command`: its last name. `kind`: "task"; where system calls were
    traced all the time "user" and "system".
    """

    cpu: str
    process: str
    thread: str
    command: str
    kind: str


@kept
def thread_series(readings: Readings) -> dict[Thread, list[Sample]]:
    """What each thread had taken, in order of reading.

    At a reading that lacks it, it had not run yet, and had taken nothing. One that takes another
    name has its time in one series.
    """
    moments = sorted({sample.time for sample in readings.samples(TASK_TIME)})
    found: dict[tuple[str, ...], list[Sample]] = defaultdict(list)
    for cpu in readings.cpus:
        for series in readings.series(TASK_TIME, cpu=str(cpu)):
            if labels := series[0].labels:
                key = str(cpu), labels["process"], labels["thread"], labels["kind"]
                found[key] += series
    threads = {}
    for (core, process, thread, kind), samples in found.items():
        samples.sort(key=lambda sample: sample.time)
        samples[:0] = _not_run_yet(samples[0], moments, readings)
        threads[Thread(core, process, thread, samples[-1].labels["command"], kind)] = samples
    return threads


def _not_run_yet(first: Sample, moments: list[float], readings: Readings) -> list[Sample]:
    """The last reading without a thread whose first one this is, and the start of the phase if
    that was before: zero at both. Empty of a thread that was always there.
    """
    start = readings.window.start if readings.window else first.time
    at = bisect_left(moments, first.time)
    if not at and first.time <= start:
        return []
    before = moments[at - 1] if at else start
    return [
        first._replace(time=moment, value=0.0) for moment in sorted({before, min(before, start)})
    ]


@kept
def seconds_of_threads(readings: Readings) -> dict[Thread, float]:
    """Exact seconds of each thread, without softirqs and interrupts; empty when not read."""
    window = readings.window
    if window is None:
        return {}
    grown = {
        thread: growth(known_values(samples), window)
        for thread, samples in thread_series(readings).items()
    }
    return {thread: seconds for thread, seconds in grown.items() if seconds is not None}
