"""Checks of the cores, the memory and the network cards of this machine."""

import os
from pathlib import Path

import psutil

from stackcost.bed.hugepages import PAGE_BYTES, PAGES, USUAL_COUNT
from stackcost.doctor.check import Finding, limited, missing, ok

CPU = Path("/sys/devices/system/cpu")
NETWORK = Path("/sys/class/net")
WANTED_MEMORY = 4 << 30


def check_cores() -> Finding:
    """The suite needs at least one core for the load and one for the server."""
    count = os.cpu_count() or 1
    if count >= 2:
        return ok(str(count))
    return missing(
        "1",
        "load and server would share the core, and every CPU figure would be wrong",
        "use a machine with at least 2 cores",
    )


def check_isolation() -> Finding:
    """Whether the scheduler keeps other programs off the measured cores."""
    isolated = _read(CPU / "isolated")
    if isolated:
        return ok(isolated)
    return limited(
        "none",
        "other programs may run on the measured cores, so the spread is wider",
        "boot with isolcpus=1 nohz_full=1, or run no other programs",
    )


def check_governor() -> Finding:
    """Whether the clock frequency may change during a measurement."""
    governor = _read(CPU / "cpu0/cpufreq/scaling_governor")
    if governor == "performance":
        return ok(governor)
    if not governor:
        return limited(
            "not visible, as in most virtual machines",
            "the host may change the clock frequency; the spread over trials shows that",
        )
    return limited(
        governor,
        "the clock frequency follows the load, so the time per connection depends on the rate",
        "cpupower frequency-set -g performance",
    )


def check_memory() -> Finding:
    """Free memory: hugepages and many open flows need it."""
    free = psutil.virtual_memory().available
    found = f"{free / 2**30:.1f} GiB available"
    if free >= WANTED_MEMORY:
        return ok(found)
    return limited(
        found,
        "fewer flows can be held open",
        f"end other programs until {WANTED_MEMORY >> 30} GiB are available",
    )


def check_hugepages() -> Finding:
    """Hugepages that are free now, and those that a run can still reserve."""
    if not PAGES.exists():
        return limited(
            "this kernel has no hugepages of 2 MB",
            "the engine uses ordinary pages and is slower",
            "use a kernel with CONFIG_HUGETLBFS=y",
        )
    free = int(_read(PAGES / "free_hugepages"))
    possible = free + psutil.virtual_memory().available // PAGE_BYTES
    found = f"{free} pages of 2 MB are free now, about {possible} are possible"
    if possible >= USUAL_COUNT:
        return ok(found)
    return limited(
        found,
        "the engine falls back to ordinary pages and is slower",
        f"end other programs to free memory, or boot with hugepages={USUAL_COUNT}",
    )


def check_network_cards() -> Finding:
    """Physical network cards. The test bed on one machine uses veth pairs and needs none."""
    cards = [
        f"{entry.name} ({_driver(entry)})"
        for entry in sorted(NETWORK.iterdir())
        if (entry / "device").exists()
    ]
    return ok(", ".join(cards) or "none; the test bed uses veth pairs")


def _driver(interface: Path) -> str:
    try:
        return os.path.basename(os.readlink(interface / "device/driver"))
    except OSError:
        return "driver unknown"


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
