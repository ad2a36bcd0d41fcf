"""Memory, CPU time, threads and context switches of the server's processes, by role.

The CPU times are the scheduler's and include softirqs that interrupted the process; use
`task.time` for the time of the process itself.
"""

import time
from collections.abc import Callable, Mapping
from pathlib import Path

import psutil

from stackcost.contracts.collector import Collector
from stackcost.contracts.metrics import (
    BACKEND_CPU_TIME,
    BACKEND_PSS,
    BACKEND_SOCKETS,
    POLL_ROLE,
    PROCESS_CPU_TIME,
    PROCESS_PSS,
)
from stackcost.contracts.sample import Kind, Metric, Sample
from stackcost.host.kernel_tables import sockstat

RESIDENT = Metric("process.rss", "B", Kind.GAUGE, "/proc/PID/statm resident")
UNSHARED = Metric("process.uss", "B", Kind.GAUGE, "/proc/PID/smaps_rollup Private_*")
THREADS = Metric("process.threads", "1", Kind.GAUGE, "/proc/PID/status Threads")
SWITCHES = Metric("process.context_switches", "1", Kind.COUNTER, "/proc/PID/status *_ctxt_switches")


class Processes(Collector):
    """Reads processes by role. `find`: process ids by role, asked at every reading."""

    name = "processes"
    metrics = (RESIDENT, PROCESS_PSS, UNSHARED, THREADS, PROCESS_CPU_TIME, SWITCHES)

    def __init__(self, find: Callable[[], Mapping[str, int]]):
        self._find = find

    def read(self) -> list[Sample]:
        """All figures of each process; unknown for one that has ended."""
        samples = []
        for role, number in self._find().items():
            labels = {"role": role, "process": str(number)}
            try:
                samples += _read_process(psutil.Process(number), labels)
            except psutil.NoSuchProcess:
                now, reason = time.monotonic(), f"process {number} ({role}) has ended"
                samples += [metric.unknown(now, reason, **labels) for metric in self.metrics]
        return samples


class BackendProcesses(Collector):
    """Reads the processes behind a device by role: their time and memory are not the device's.

    The TCP sockets of their namespace are read with them.

    `processes`: process ids by role.
    """

    name = "backend processes"
    metrics = (BACKEND_CPU_TIME, BACKEND_PSS, BACKEND_SOCKETS)

    def __init__(self, processes: Mapping[str, int]):
        self._processes = processes

    def read(self) -> list[Sample]:
        """CPU time of each process, and memory unless it only polls; unknown for one that ended."""
        samples = []
        for role, number in self._processes.items():
            now, labels = time.monotonic(), {"role": role, "process": str(number)}
            try:
                process = psutil.Process(number)
                spent = process.cpu_times()
                samples += [
                    BACKEND_CPU_TIME.sample(now, spent.user, **labels, kind="user"),
                    BACKEND_CPU_TIME.sample(now, spent.system, **labels, kind="system"),
                ]
                if not role.startswith(POLL_ROLE):
                    memory = process.memory_full_info().pss
                    samples.append(BACKEND_PSS.sample(now, memory, **labels))
            except psutil.NoSuchProcess:
                reason = f"process {number} ({role}) has ended"
                samples += [metric.unknown(now, reason, **labels) for metric in self.metrics]
        return [*samples, *self._sockets()]

    def _sockets(self) -> list[Sample]:
        """Of the namespace that they are in, by the first that lives and is no kernel's thread."""
        for role, number in self._processes.items():
            path = Path(f"/proc/{number}/net/sockstat")
            if not role.startswith(POLL_ROLE) and path.exists():
                found = sockstat(path.read_text())["TCP", "inuse"]
                return [BACKEND_SOCKETS.sample(time.monotonic(), found)]
        return []


def _read_process(process: psutil.Process, labels: dict[str, str]) -> list[Sample]:
    now = time.monotonic()
    memory = process.memory_full_info()
    cpu = process.cpu_times()
    switches = process.num_ctx_switches()
    return [
        RESIDENT.sample(now, memory.rss, **labels),
        PROCESS_PSS.sample(now, memory.pss, **labels),
        UNSHARED.sample(now, memory.uss, **labels),
        THREADS.sample(now, process.num_threads(), **labels),
        PROCESS_CPU_TIME.sample(now, cpu.user, **labels, kind="user"),
        PROCESS_CPU_TIME.sample(now, cpu.system, **labels, kind="system"),
        SWITCHES.sample(now, switches.voluntary, **labels, kind="voluntary"),
        SWITCHES.sample(now, switches.involuntary, **labels, kind="involuntary"),
    ]
