"""Cores, memory and network cards of this machine."""

import os
from pathlib import Path

import psutil

from stackcost.harness.bed.hugepages import PAGE_BYTES, PAGES, USUAL_COUNT
from stackcost.harness.doctor.check import HostCheck, State

CPU = Path("/sys/devices/system/cpu")
NETWORK = Path("/sys/class/net")
WANTED_MEMORY = 4 << 30


def check_cores() -> HostCheck:
    """One for the load and one for the server are the least."""
    count = os.cpu_count() or 1
    if count >= 2:
        return HostCheck("cores", State.OK, str(count), needed=True)
    return HostCheck(
        "cores",
        State.MISSING,
        "1",
        "load and server would share it, and every CPU figure be wrong",
        "use a machine of at least 2 cores",
        needed=True,
    )


def check_isolation() -> HostCheck:
    """Whether the scheduler keeps other programs off the cores that are measured."""
    isolated = _read(CPU / "isolated")
    if isolated:
        return HostCheck("isolated cores", State.OK, isolated)
    return HostCheck(
        "isolated cores",
        State.LIMITED,
        "none",
        "other programs may run on the measured cores and widen the spread",
        "boot with isolcpus=1 nohz_full=1, or keep the machine quiet",
    )


def check_governor() -> HostCheck:
    """Whether the clock may change during a measurement."""
    governor = _read(CPU / "cpu0/cpufreq/scaling_governor")
    if governor == "performance":
        return HostCheck("frequency governor", State.OK, governor)
    if not governor:
        return HostCheck(
            "frequency governor",
            State.LIMITED,
            "not visible, as in most virtual machines",
            "the host may change the clock; the spread over trials shows it",
        )
    return HostCheck(
        "frequency governor",
        State.LIMITED,
        governor,
        "the clock follows the load, so time per connection depends on the rate",
        "cpupower frequency-set -g performance",
    )


def check_memory() -> HostCheck:
    """Free memory, hugepages and many open flows included."""
    free = psutil.virtual_memory().available
    found = f"{free / 2**30:.1f} GiB available"
    if free >= WANTED_MEMORY:
        return HostCheck("memory", State.OK, found)
    return HostCheck(
        "memory",
        State.LIMITED,
        found,
        "fewer flows can be held open",
        f"free {WANTED_MEMORY >> 30} GiB",
    )


def check_hugepages() -> HostCheck:
    """There now, or to be had when a run asks for them."""
    if not PAGES.exists():
        return HostCheck(
            "hugepages",
            State.LIMITED,
            "this kernel has none of 2 MB",
            "the engine runs on ordinary pages, slower",
            "use a kernel with CONFIG_HUGETLBFS=y",
        )
    free = int(_read(PAGES / "free_hugepages"))
    possible = free + psutil.virtual_memory().available // PAGE_BYTES
    found = f"{free} of 2 MB free now, about {possible} possible"
    if possible >= USUAL_COUNT:
        return HostCheck("hugepages", State.OK, found)
    return HostCheck(
        "hugepages",
        State.LIMITED,
        found,
        "the engine falls back to ordinary pages, slower",
        f"free memory, or boot with hugepages={USUAL_COUNT}",
    )


def check_network_cards() -> HostCheck:
    """Physical ones, which a test bed of two machines needs; this machine's veth needs none."""
    cards = [
        f"{entry.name} ({_driver(entry)})"
        for entry in sorted(NETWORK.iterdir())
        if (entry / "device").exists()
    ]
    return HostCheck("network cards", State.OK, ", ".join(cards) or "none; a veth pair needs none")


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
