"""Exact time in which a server's threads were blocked (uninterruptible sleep, as for a disk).

A worker's first thread is its event loop: while it is blocked, the worker serves nothing.
Its other threads are its thread pool; when one of them waits, only its own request waits.
"""

import ctypes
import time
from collections.abc import Mapping
from pathlib import Path

from stackcost.collect.bpf import BpfObject
from stackcost.contracts.collector import Collector
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.metrics import THREAD_BLOCKED_TIME
from stackcost.contracts.sample import Kind, Metric, Sample

TIMES = Metric("thread.blocked_times", "1", Kind.COUNTER, THREAD_BLOCKED_TIME.source)
LOOP, POOL = "event loop", "thread pool"
MAX_THREADS = 1024
NANOSECOND = 1e-9


class ThreadKey(ctypes.Structure):
    """struct ThreadKey of blocked.bpf.c."""

    _fields_ = [("process", ctypes.c_uint32), ("thread", ctypes.c_uint32)]


class Wait(ctypes.Structure):
    """struct Wait of blocked.bpf.c."""

    _fields_ = [("nanoseconds", ctypes.c_uint64), ("times", ctypes.c_uint64)]


class BlockedTime(Collector):
    """Reads the waits of processes' threads. `processes`: ids by role, at most a few hundred."""

    name = "blocked time"
    metrics = (THREAD_BLOCKED_TIME, TIMES)

    def __init__(self, processes: Mapping[str, int]):
        self._roles = {number: role for role, number in processes.items()}
        self._programs: BpfObject | None = None

    def start(self) -> None:
        """Compile for these processes, load and attach; counting starts at zero here."""
        watched = " || ".join(f"(p) == {number}" for number in self._roles) or "0"
        source = Path(__file__).with_name("blocked.bpf.c")
        self._programs = BpfObject(source, [f"WATCHES(p)=({watched})"])
        self._programs.attach()

    def read(self) -> list[Sample]:
        """The blocked time of the event loop and the thread pool of each role, since the start."""
        if self._programs is None:
            raise StackcostError("the BPF program is not running")
        found = self._programs.read_hash("waits", ThreadKey, Wait, MAX_THREADS)
        now, samples = time.monotonic(), []
        for number, role in self._roles.items():
            for part in (LOOP, POOL):
                own = [
                    wait
                    for key, wait in found
                    if key.process == number and (key.thread == number) == (part == LOOP)
                ]
                labels = {"role": role, "process": str(number), "part": part}
                blocked = sum(wait.nanoseconds for wait in own) * NANOSECOND
                samples.append(THREAD_BLOCKED_TIME.sample(now, blocked, **labels))
                samples.append(TIMES.sample(now, sum(wait.times for wait in own), **labels))
        return samples

    def stop(self) -> None:
        """Detach and unload."""
        if self._programs:
            self._programs.close()
            self._programs = None
