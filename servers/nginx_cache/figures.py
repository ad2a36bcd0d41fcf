"""Figures of a cache: how much it served from the origin, and from its disk."""

import contextlib
import time
from collections.abc import Callable, Mapping

import psutil

from stackcost.contracts.collector import Collector
from stackcost.contracts.metrics import CACHE_MISSES, PROCESS_DISK_READ
from stackcost.contracts.sample import Sample


class CacheCollector(Collector):
    """Reads both. `misses`: requests that the origin got; `processes`: the cache's, by role."""

    name = "cache"
    metrics = (CACHE_MISSES, PROCESS_DISK_READ)

    def __init__(self, misses: Callable[[], int], processes: Mapping[str, int]):
        self._misses = misses
        self._processes = processes

    def read(self) -> list[Sample]:
        """The origin's count of requests, and the bytes that each process has read from disks."""
        now = time.monotonic()
        samples = [CACHE_MISSES.sample(now, self._misses())]
        for role, number in self._processes.items():
            with contextlib.suppress(psutil.NoSuchProcess):
                read = psutil.Process(number).io_counters().read_bytes
                samples.append(PROCESS_DISK_READ.sample(now, read, role=role, process=str(number)))
        return samples
