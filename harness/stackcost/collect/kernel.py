"""The kernel's configuration options that influence the measurements."""

import gzip
import platform
from pathlib import Path

# What changes the cost of a packet, or how time and memory are accounted.
OPTIONS = (
    "TICK_CPU_ACCOUNTING",
    "VIRT_CPU_ACCOUNTING_GEN",
    "VIRT_CPU_ACCOUNTING_NATIVE",
    "IRQ_TIME_ACCOUNTING",
    "PARAVIRT_TIME_ACCOUNTING",
    "HZ",
    "NO_HZ_FULL",
    "PREEMPT_NONE",
    "PREEMPT_VOLUNTARY",
    "PREEMPT",
    "PREEMPT_RT",
    "PREEMPT_DYNAMIC",
    "SLAB_MERGE_DEFAULT",
    "SLAB_FREELIST_HARDENED",
    "SLUB_CPU_PARTIAL",
    "INIT_ON_ALLOC_DEFAULT_ON",
    "HARDENED_USERCOPY",
    "RETPOLINE",
    "MITIGATION_RETPOLINE",
    "RPS",
    "XDP_SOCKETS",
    "BPF_JIT_ALWAYS_ON",
    "DEBUG_INFO_BTF",
    "NF_CONNTRACK",
    "AUDITSYSCALL",
    "MODULES",
)


def options() -> dict[str, str] | None:
    """Values of OPTIONS in this kernel ("y", "m", a number, "n" when not set).

    None when the kernel's configuration is neither in /proc/config.gz nor in /boot.
    """
    found = configuration()
    return None if found is None else {name: found.get(name, "n") for name in OPTIONS}


def configuration() -> dict[str, str] | None:
    """All set options by name without CONFIG_; None as in `options`."""
    text = _configuration()
    if text is None:
        return None
    return dict(
        line.removeprefix("CONFIG_").split("=", 1)
        for line in text.splitlines()
        if line.startswith("CONFIG_")
    )


def accounting_mode() -> str:
    """How the kernel computes /proc/stat.

    "tick": a sample at every timer tick; softirq and interrupt times are rough. "tick, interrupts
    exact": interrupt and softirq time by clock, the rest by ticks. "exact": everything by clock.
    "unknown": the kernel's configuration cannot be read.
    """
    known = options()
    if known is None:
        return "unknown"
    if "y" in (known["VIRT_CPU_ACCOUNTING_NATIVE"], known["VIRT_CPU_ACCOUNTING_GEN"]):
        return "exact"
    return "tick, interrupts exact" if known["IRQ_TIME_ACCOUNTING"] == "y" else "tick"


def _configuration() -> str | None:
    built_in = Path("/proc/config.gz")
    installed = Path(f"/boot/config-{platform.release()}")
    try:
        if built_in.exists():
            return gzip.decompress(built_in.read_bytes()).decode()
        return installed.read_text()
    except OSError:
        return None
