"""CPU time of threads on some cores in a phase, also of those that first ran in it."""

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

    One that takes another name has its time in one series. Before one that first ran meanwhile are
    zeros (`Readings.from_zero`).
    """
    found: dict[tuple[str, ...], list[Sample]] = defaultdict(list)
    for cpu in readings.cpus:
        for series in readings.series(TASK_TIME, cpu=str(cpu)):
            if labels := series[0].labels:
                key = str(cpu), labels["process"], labels["thread"], labels["kind"]
                found[key] += series
    threads = {}
    for (core, process, thread, kind), samples in found.items():
        samples.sort(key=lambda sample: sample.time)
        command = samples[-1].labels["command"]
        of_thread = Thread(core, process, thread, command, kind)
        threads[of_thread] = readings.from_zero(TASK_TIME, samples)
    return threads


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
