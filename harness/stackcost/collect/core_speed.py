"""The current speed of the server's cores: the duration of a small piece of known work.

A virtual machine's core may share its execution units with another virtual machine, on the other
hardware thread of the physical core. The other machine slows it by up to 50 %, for a second or a
minute, and no counter of the kernel shows that: no time was stolen. A trial in that time
measures the other machine. The same is true if other machines use more of the caches and the memory
bandwidth that all cores of the host share. All pieces of work use 0.2 % of a core, by exact CPU
time (engine/bench/tools/selfcheck/overhead.py).
"""

import ctypes
import mmap
import os
import subprocess
import tempfile
import time
from collections.abc import Collection
from pathlib import Path

from stackcost.contracts.collector import Collector
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.metrics import (
    CORE_MEMORY_READ_TIME,
    CORE_SYSTEM_CALL_TIME,
    CORE_WORK_COUNT,
    CORE_WORK_LEAST,
    CORE_WORK_TIME,
)
from stackcost.contracts.sample import Sample
from stackcost.host.compiler import compile_program
from stackcost.host.liveness import check_lives
from stackcost.host.namespace import end_group

SOURCE = Path(__file__).with_name("core_speed.c")
READS, CALLS = 16, 2  # kReads and kCalls of core_speed.c
READ_TRIES = 100_000  # the program writes for less than a microsecond, 20 times a second
NANOSECOND = 1e-9
NONE_YET = 2**64 - 1


class Speed(ctypes.Structure):
    """struct Speed of core_speed.c."""

    _fields_ = [
        ("version", ctypes.c_uint64),
        ("count", ctypes.c_uint64),
        ("sum_ns", ctypes.c_uint64),
        ("least_ns", ctypes.c_uint64),
        ("sum_reads_ns", ctypes.c_uint64),
        ("sum_calls_ns", ctypes.c_uint64),
    ]


class CoreSpeed(Collector):
    """Keeps a program on each of `cpus` that does the work and counts."""

    name = "core speed"
    often = True
    metrics = (
        CORE_WORK_TIME,
        CORE_WORK_COUNT,
        CORE_MEMORY_READ_TIME,
        CORE_SYSTEM_CALL_TIME,
        CORE_WORK_LEAST,
    )

    def __init__(self, cpus: Collection[int]):
        self._cpus = cpus
        self._programs: dict[int, tuple[subprocess.Popen[bytes], Speed]] = {}

    def start(self) -> None:
        """Compile the program and start it on each core."""
        with tempfile.TemporaryDirectory(prefix="stackcost-") as folder:
            program = Path(folder) / "core_speed"
            compile_program(SOURCE, program)
            for cpu in self._cpus:
                self._programs[cpu] = _started(program, cpu)

    def read(self) -> list[Sample]:
        """The number and the duration of the pieces of work on each core."""
        samples = []
        for cpu, (process, speed) in self._programs.items():
            check_lives(process.pid, f"the program that measures core {cpu} has failed: it")
            seen, now = _settled(speed), time.monotonic()
            labels = {"cpu": str(cpu)}
            samples.append(CORE_WORK_TIME.sample(now, seen.sum_ns * NANOSECOND, **labels))
            samples.append(CORE_WORK_COUNT.sample(now, seen.count, **labels))
            for metric, spent_ns, times in (
                (CORE_MEMORY_READ_TIME, seen.sum_reads_ns, READS),
                (CORE_SYSTEM_CALL_TIME, seen.sum_calls_ns, CALLS),
            ):
                samples.append(metric.sample(now, spent_ns * NANOSECOND / times, **labels))
            if seen.least_ns < NONE_YET:
                samples.append(CORE_WORK_LEAST.sample(now, seen.least_ns * NANOSECOND, **labels))
        return samples

    def process_ids(self) -> list[int]:
        """Of the programs."""
        return [process.pid for process, _ in self._programs.values()]

    def stop(self) -> None:
        """End the programs."""
        for process, _ in self._programs.values():
            if process.stdin:
                process.stdin.close()
            end_group(process)
        self._programs = {}


def _started(program: Path, cpu: int) -> tuple[subprocess.Popen[bytes], Speed]:
    descriptor = os.memfd_create("stackcost-core-speed")
    try:
        os.ftruncate(descriptor, mmap.PAGESIZE)
        speed = Speed.from_buffer(mmap.mmap(descriptor, mmap.PAGESIZE))
        speed.least_ns = NONE_YET
        process = subprocess.Popen(
            [program, str(cpu), str(descriptor)],
            stdin=subprocess.PIPE,
            pass_fds=[descriptor],
            start_new_session=True,
        )
    finally:
        os.close(descriptor)
    return process, speed


def _settled(speed: Speed) -> Speed:
    """A consistent copy of the shared data; StackcostError if none can be read."""
    for _ in range(READ_TRIES):
        before = speed.version
        copy = Speed.from_buffer_copy(speed)
        if before % 2 == 0 and speed.version == before:
            return copy
    raise StackcostError("the program that measures the core was stopped while it wrote")
