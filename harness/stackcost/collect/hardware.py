"""Cycles and instructions of every CPU, where the machine has counters for them (perf_event_open).

They distinguish a slow core from long code: a cost in microseconds depends on clock rate and cache,
but the instructions of a connection do not. Most virtual machines have no such counters; then both
metrics are unknown, with that reason.
"""

import os
import struct
import time
from dataclasses import dataclass

from stackcost.collect.perf_event import HARDWARE, NO_KERNEL, NO_USER, open_event
from stackcost.contracts.collector import Collector
from stackcost.contracts.metrics import CPU_CYCLES, CPU_INSTRUCTIONS
from stackcost.contracts.sample import Metric, Sample
from stackcost.host.cores import online_cpus

EXCLUDE = {"user": NO_KERNEL, "kernel": NO_USER}
TIMES = 3  # PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING


@dataclass(frozen=True, slots=True)
class Event:
    """What to count: `type` and `config` of perf_event_attr, and the metric it becomes."""

    metric: Metric
    type: int
    config: int


EVENTS = (Event(CPU_CYCLES, HARDWARE, 0), Event(CPU_INSTRUCTIONS, HARDWARE, 1))


class HardwareCounters(Collector):
    """Counts on every CPU for all programs, separately for user and kernel mode."""

    name = "hardware counters"

    def __init__(self, events: tuple[Event, ...] = EVENTS):
        self.metrics = tuple(event.metric for event in events)
        self._events = events
        self._open: dict[tuple[Metric, int, str], int] = {}

    def start(self) -> None:
        """Open all counters; they count from zero."""
        for event in self._events:
            for cpu in online_cpus():
                for mode in EXCLUDE:
                    self._open[event.metric, cpu, mode] = open_event(
                        event.type, event.config, cpu, read_format=TIMES, flags=EXCLUDE[mode]
                    )

    def read(self) -> list[Sample]:
        """One sample per event, CPU and mode; unknown for a counter that never ran."""
        samples = []
        for (metric, cpu, mode), descriptor in self._open.items():
            now = time.monotonic()
            count, enabled, running = struct.unpack("QQQ", os.read(descriptor, 24))
            labels = {"cpu": str(cpu), "mode": mode}
            if enabled and not running:
                samples.append(metric.unknown(now, "other programs hold the counters", **labels))
            else:  # counters that are shared in turns count a part of the time
                scale = enabled / running if running else 1.0
                samples.append(metric.sample(now, count * scale, **labels))
        return samples

    def stop(self) -> None:
        """Close them."""
        for descriptor in self._open.values():
            os.close(descriptor)
        self._open.clear()
