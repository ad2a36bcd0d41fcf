"""What this kernel offers, found by trying it wherever trying leaves nothing behind."""

import contextlib
import gzip
import os
import platform
import socket
import subprocess
from pathlib import Path

from stackcost.collect.cpu_account import CpuAccount
from stackcost.contracts.errors import StackcostError
from stackcost.harness.doctor.check import HostCheck, State

AF_XDP = 44  # include/linux/socket.h; Python has no name for it
ROOT = "run it as root: sudo stackcost doctor"


def kernel_config() -> dict[str, str]:
    """The kernel's build options by name without CONFIG_; empty when it does not tell them."""
    text = ""
    with contextlib.suppress(OSError):
        text = Path(f"/boot/config-{platform.release()}").read_text()
    with contextlib.suppress(OSError):
        text = gzip.decompress(Path("/proc/config.gz").read_bytes()).decode()
    pairs = (line.partition("=") for line in text.splitlines() if line.startswith("CONFIG_"))
    return {name.removeprefix("CONFIG_"): value for name, _, value in pairs}


def check_root() -> HostCheck:
    """Namespaces, AF_XDP and tracing all need it."""
    if os.geteuid() == 0:
        return HostCheck("root", State.OK, "yes", needed=True)
    return HostCheck(
        "root", State.MISSING, f"user {os.geteuid()}", "no test bed can be made", ROOT, needed=True
    )


def check_version() -> HostCheck:
    """Older kernels lack AF_XDP's need-wakeup and threaded NAPI."""
    release = platform.release()
    major, minor = (int(part) for part in release.split(".")[:2])
    if (major, minor) >= (5, 12):
        return HostCheck("kernel", State.OK, release)
    return HostCheck(
        "kernel",
        State.LIMITED,
        release,
        "no threaded NAPI: the generator's receive work is billed to the server's core",
        "use 5.12 or newer; Debian 12 has 6.1",
    )


def check_namespaces() -> HostCheck:
    """By making one, which ends with the process that made it."""
    tried = subprocess.run(
        ["unshare", "--net", "ip", "link", "add", "sc-try0", "type", "veth"],
        capture_output=True,
        text=True,
    )
    if tried.returncode == 0:
        return HostCheck("namespaces and veth", State.OK, "can be made", needed=True)
    return HostCheck(
        "namespaces and veth",
        State.MISSING,
        tried.stderr.strip(),
        "no test bed on this machine",
        f"{ROOT}; in a container add --privileged; modprobe veth",
        needed=True,
    )


def check_af_xdp() -> HostCheck:
    """By opening such a socket."""
    try:
        socket.socket(AF_XDP, socket.SOCK_RAW).close()
    except PermissionError:
        return HostCheck(
            "AF_XDP", State.MISSING, "not allowed", "the engine has no fast port", ROOT
        )
    except OSError as error:
        return HostCheck(
            "AF_XDP",
            State.MISSING,
            str(error),
            "the engine has to use packet sockets",
            "use a kernel built with CONFIG_XDP_SOCKETS=y, as Debian's are",
        )
    return HostCheck("AF_XDP", State.OK, "a socket can be opened")


def check_steering(config: dict[str, str]) -> HostCheck:
    """Receive packet steering; a kernel that hides its options is believed to have it."""
    if config.get("RPS", "y") == "y":
        return HostCheck("receive steering", State.OK, "RPS is built in", needed=True)
    return HostCheck(
        "receive steering",
        State.MISSING,
        "the kernel was built without CONFIG_RPS",
        "the server's receive work would be billed to the generator's core",
        "use a kernel with CONFIG_RPS=y, as Debian's are",
        needed=True,
    )


def check_cpu_accounting(config: dict[str, str]) -> HostCheck:
    """What the columns of /proc/stat are worth."""
    if not config:
        return HostCheck("/proc/stat", State.LIMITED, "the kernel does not tell its options")
    exact_tasks = "VIRT_CPU_ACCOUNTING_GEN" in config or "VIRT_CPU_ACCOUNTING_NATIVE" in config
    exact_interrupts = "IRQ_TIME_ACCOUNTING" in config
    found = (
        f"tasks {'measured' if exact_tasks else 'by tick'}, "
        f"interrupts {'measured' if exact_interrupts else 'by tick'}, "
        f"{config.get('HZ', 'unknown')} Hz"
    )
    if exact_interrupts:
        return HostCheck("/proc/stat", State.OK, found)
    return HostCheck(
        "/proc/stat",
        State.LIMITED,
        found,
        "softirq and irq columns are a sample at each tick; the exact account below replaces them",
        "none needed; IRQ_TIME_ACCOUNTING=y in the kernel would make them exact",
    )


def check_exact_cpu_time() -> HostCheck:
    """By loading the very program that accounts for it."""
    account = CpuAccount()
    try:
        account.start()
    except StackcostError as error:
        return HostCheck(
            "exact CPU time",
            State.MISSING,
            error.what,
            "CPU by kind comes from /proc/stat alone",
            error.hint,
        )
    finally:
        account.stop()
    return HostCheck("exact CPU time", State.OK, "the BPF account loads and runs")


def check_type_information() -> HostCheck:
    """BTF, which BPF programs are fitted to the kernel by."""
    if Path("/sys/kernel/btf/vmlinux").exists():
        return HostCheck("BTF", State.OK, "the kernel describes its types")
    return HostCheck(
        "BTF",
        State.MISSING,
        "no /sys/kernel/btf/vmlinux",
        "no exact CPU time",
        "use a kernel with CONFIG_DEBUG_INFO_BTF=y, as Debian's are",
    )


def check_modules(config: dict[str, str]) -> HostCheck:
    """Whether modules can be loaded: Onload's, DPDK's vfio."""
    built = config.get("MODULES", "y") == "y" and Path("/proc/modules").exists()
    if built and "nomodule" not in Path("/proc/cmdline").read_text().split():
        return HostCheck("loadable modules", State.OK, "yes")
    return HostCheck(
        "loadable modules",
        State.MISSING,
        "this kernel loads none",
        "Onload cannot run, nor can a NIC be given to DPDK by vfio as a module",
        "boot a distribution's kernel; for the main comparison none is needed",
    )


def check_perf_counters() -> HostCheck:
    """Hardware cycle counters, which virtual machines often hide."""
    devices = Path("/sys/bus/event_source/devices")
    found = [name for name in ("cpu", "cpu_core", "armv8_pmuv3_0") if (devices / name).exists()]
    if found:
        return HostCheck("hardware counters", State.OK, ", ".join(found))
    return HostCheck(
        "hardware counters",
        State.MISSING,
        "the processor's counters are not visible",
        "no cycles and cache misses; CPU time is measured all the same",
        "run on bare metal, or enable the virtual PMU in the hypervisor",
    )
