"""The cores of this machine, and how the harness stays off the server's cores."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

SYSTEM = Path("/sys/devices/system/cpu")


@dataclass(frozen=True, slots=True)
class CpuPlace:
    """Where a logical CPU is: its NUMA node, and its physical core, by the lowest of its CPUs.

    `thread`: its place among the hardware threads of that core, from 0.
    """

    node: int
    core: int
    thread: int


def online_cpus() -> list[int]:
    """CPUs that are running now."""
    return _cpus((SYSTEM / "online").read_text())


def place_of(cpu: int, system: Path = SYSTEM) -> CpuPlace:
    """The place of a CPU by the kernel's topology; its own core on node 0 if that is not known."""
    folder = system / f"cpu{cpu}"
    nodes = [int(each.name[4:]) for each in folder.glob("node[0-9]*")]
    siblings = folder / "topology/thread_siblings_list"
    threads = _cpus(siblings.read_text()) if siblings.is_file() else [cpu]
    return CpuPlace(min(nodes, default=0), min(threads), threads.index(cpu))


def _cpus(text: str) -> list[int]:
    """The kernel's lists, such as 0-3,8."""
    cpus: list[int] = []
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        cpus += range(int(first), int(last or first) + 1)
    return cpus


def allowed_cores() -> list[int]:
    """Cores that this process may use, regardless of its current affinity.

    A thread of its own asks for all, and the kernel grants those of the control group's cpuset
    (sched_setaffinity(2)); so isolated cores are among them, and a test bed narrows nothing.
    """
    granted: set[int] = set()

    def ask() -> None:
        os.sched_setaffinity(0, online_cpus())
        granted.update(os.sched_getaffinity(0))

    thread = Thread(target=ask)
    thread.start()
    thread.join()
    return sorted(granted)


@contextmanager
def harness_on(cpus: Iterable[int]) -> Iterator[None]:
    """Run every thread of this process, and what they start, on `cpus`; afterwards as before."""
    before = os.sched_getaffinity(0)
    _move_threads(set(cpus))
    try:
        yield
    finally:
        _move_threads(before)


def _move_threads(cpus: set[int]) -> None:
    for thread in os.listdir("/proc/self/task"):
        try:
            os.sched_setaffinity(int(thread), cpus)
        except ProcessLookupError:  # ended meanwhile
            continue
