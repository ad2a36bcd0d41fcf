"""The machine a figure was taken on: ratios hold, absolute figures drift from one to the next."""

import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def describe_machine() -> dict[str, Any]:
    """Processor, CPUs, memory, kernel, and how busy it was when the benchmark began."""
    models = [
        line.split(":", 1)[1].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    return {
        "begun": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": models[0] if models else None,
        "cpus": cpus(),
        "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "load_average_1_min": os.getloadavg()[0],
    }


def cpus() -> list[int]:
    """CPUs this process may use."""
    return sorted(os.sched_getaffinity(0))
