"""CPU time as the kernel accounts it (/proc/stat): by ticks on many kernels, then a sample."""

import os
import time
from pathlib import Path

from stackcost.contracts.collector import Collector
from stackcost.contracts.metrics import CPU_TIME
from stackcost.contracts.sample import Sample

STAT = Path("/proc/stat")
# Order of the columns, Documentation/filesystems/proc.rst. "user" and "nice" hold guest time too.
KINDS = (
    "user",
    "nice",
    "system",
    "idle",
    "iowait",
    "irq",
    "softirq",
    "steal",
    "guest",
    "guest_nice",
)


class CpuTime(Collector):
    """Reads every CPU's time by kind; guest time is left out, being inside user and nice."""

    name = "cpu time"
    metrics = (CPU_TIME,)

    def read(self) -> list[Sample]:
        """One sample for each CPU and kind."""
        now = time.monotonic()
        ticks_per_second = os.sysconf("SC_CLK_TCK")
        samples = []
        for line in STAT.read_text().splitlines():
            name, *columns = line.split()
            if not name.startswith("cpu") or name == "cpu":
                continue
            for kind, ticks in zip(KINDS, columns, strict=False):
                if not kind.startswith("guest"):
                    seconds = int(ticks) / ticks_per_second
                    samples.append(CPU_TIME.sample(now, seconds, cpu=name[3:], kind=kind))
        return samples
