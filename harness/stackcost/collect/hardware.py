"""Cycles and instructions of every CPU, where the machine has counters for them (perf_event_open).

They distinguish a slow core from long code: a cost in microseconds depends on clock rate and cache,
but the instructions of a connection do not. Most virtual machines have no such counters; then both
metrics are unknown, with that reason.
"""

import ctypes
import errno
import os
import platform
import struct
import time
from dataclasses import dataclass

from stackcost.contracts.collector import Collector
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.sample import Kind, Metric, Sample
from stackcost.host.cores import online_cpus

CYCLES = Metric("cpu.cycles", "1", Kind.COUNTER, "perf_event_open PERF_COUNT_HW_CPU_CYCLES")
INSTRUCTIONS = Metric(
    "cpu.instructions", "1", Kind.COUNTER, "perf_event_open PERF_COUNT_HW_INSTRUCTIONS"
)

# include/uapi/linux/perf_event.h
HARDWARE, SOFTWARE = 0, 1  # enum perf_type_id
EXCLUDE = {"user": 1 << 5, "kernel": 1 << 4}  # bits of perf_event_attr that leave the other out
TIMES = 3  # PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING
ATTRIBUTES = "IIQQQQQIIQ"  # struct perf_event_attr up to PERF_ATTR_SIZE_VER0
CLOSE_ON_EXEC = 8  # PERF_FLAG_FD_CLOEXEC
SYSTEM_CALL = {"x86_64": 298, "aarch64": 241}


@dataclass(frozen=True, slots=True)
class Event:
    """What to count: `type` and `config` of perf_event_attr, and the metric it becomes."""

    metric: Metric
    type: int
    config: int


EVENTS = (Event(CYCLES, HARDWARE, 0), Event(INSTRUCTIONS, HARDWARE, 1))


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
                    self._open[event.metric, cpu, mode] = _open_counter(event, cpu, mode)

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


def _open_counter(event: Event, cpu: int, mode: str) -> int:
    number = SYSTEM_CALL.get(platform.machine())
    if number is None:
        raise StackcostError(f"no hardware counters are read on {platform.machine()}")
    size = struct.calcsize(ATTRIBUTES)
    attributes = struct.pack(
        ATTRIBUTES, event.type, size, event.config, 0, 0, TIMES, EXCLUDE[mode], 0, 0, 0
    )
    library = ctypes.CDLL(None, use_errno=True)
    descriptor = int(library.syscall(number, attributes, -1, cpu, -1, CLOSE_ON_EXEC))
    if descriptor >= 0:
        return descriptor
    failed = ctypes.get_errno()
    if failed in (errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP):
        raise StackcostError(
            "this machine has no counters of cycles and instructions (a virtual machine without "
            "a performance monitoring unit)"
        )
    if failed in (errno.EACCES, errno.EPERM):
        raise StackcostError("hardware counters need root", "sudo stackcost ...")
    raise StackcostError(f"perf_event_open: {os.strerror(failed)}")
