"""Checks of the kernel. Where possible, a check tries the feature and then undoes that."""

import os
import platform
import shutil
import socket
import subprocess
from pathlib import Path

from stackcost.collect.cpu_account import CpuAccount
from stackcost.contracts.errors import StackcostError
from stackcost.doctor.check import Finding, limited, missing, ok
from stackcost.host import io_uring
from stackcost.host.as_root import as_root
from stackcost.host.debian import PROGRAMS, install_command

AF_XDP = 44  # include/linux/socket.h; Python has no name for it


def _by_root() -> str:
    return f"run it as root: {as_root('doctor')}"


def check_root() -> Finding:
    """Namespaces, AF_XDP and tracing need root."""
    if os.geteuid() == 0:
        return ok("yes")
    return missing(f"the user id is {os.geteuid()}", "no test bed can be made", _by_root())


def check_version() -> Finding:
    """Older kernels lack AF_XDP's need-wakeup and threaded NAPI."""
    release = platform.release()
    major, minor = (int(part) for part in release.split(".")[:2])
    if (major, minor) >= (5, 12):
        return ok(release)
    return limited(
        release,
        "no threaded NAPI: the generator's receive work counts on the server's core",
        "use kernel 5.12 or newer; Debian 12 has 6.1",
    )


def check_namespaces() -> Finding:
    """Make a namespace with a veth pair; it ends with the process that made it."""
    tried = subprocess.run(
        ["unshare", "--net", "ip", "link", "add", "sc-try0", "type", "veth"],
        capture_output=True,
        text=True,
    )
    if tried.returncode == 0:
        return ok("they can be made")
    hint = f"{_by_root()}; in a container add --privileged; or run: modprobe veth"
    if not shutil.which("ip"):
        hint = install_command([PROGRAMS["ip"]])
    return missing(
        tried.stderr.strip(),
        "no test bed can be made on this machine",
        hint,
    )


def check_af_xdp() -> Finding:
    """Open an AF_XDP socket."""
    try:
        socket.socket(AF_XDP, socket.SOCK_RAW).close()
    except PermissionError:
        return missing(
            "it is not allowed",
            "the engine has to use packet sockets, which are slower",
            _by_root(),
        )
    except OSError as error:
        return missing(
            str(error),
            "the engine has to use packet sockets, which are slower",
            "use a kernel with CONFIG_XDP_SOCKETS=y, such as Debian's",
        )
    return ok("a socket can be opened")


def check_io_uring() -> Finding:
    """Make a ring, and close it."""
    reason, _, command = io_uring.refused().partition("; ")
    if not reason:
        return ok("a ring can be made")
    meaning = "servers small-uring are not measured; all others are"
    return missing(
        reason,
        meaning,
        command,
    )


def check_steering(config: dict[str, str]) -> Finding:
    """Receive packet steering (RPS). If the kernel's options are unknown, RPS is assumed."""
    if config.get("RPS", "y") == "y":
        return ok("RPS is built in")
    return missing(
        "the kernel was built without CONFIG_RPS",
        "the server's receive work would count on the generator's core",
        "use a kernel with CONFIG_RPS=y, such as Debian's",
    )


def check_cpu_accounting(config: dict[str, str]) -> Finding:
    """How exact the columns of /proc/stat are."""
    if not config:
        return limited("the kernel's options cannot be read")
    exact_tasks = "VIRT_CPU_ACCOUNTING_GEN" in config or "VIRT_CPU_ACCOUNTING_NATIVE" in config
    exact_interrupts = "IRQ_TIME_ACCOUNTING" in config
    found = (
        f"tasks {'measured' if exact_tasks else 'by tick'}, "
        f"interrupts {'measured' if exact_interrupts else 'by tick'}, "
        f"{config.get('HZ', 'unknown')} Hz"
    )
    if exact_interrupts:
        return ok(found)
    return limited(
        found,
        "the columns softirq and irq are samples at each tick; exact CPU time replaces them",
        "nothing to fix; a kernel with IRQ_TIME_ACCOUNTING=y makes these columns exact",
    )


def check_exact_cpu_time() -> Finding:
    """Load the BPF program that measures CPU time."""
    account = CpuAccount()
    try:
        account.start()
    except StackcostError as error:
        return missing(
            error.what,
            "CPU time by kind comes only from /proc/stat",
            error.hint,
        )
    finally:
        account.stop()
    return ok("the BPF program loads and runs")


def check_type_information() -> Finding:
    """BTF: BPF programs need it to adapt to the running kernel."""
    if Path("/sys/kernel/btf/vmlinux").exists():
        return ok("the kernel describes its types")
    return missing(
        "there is no /sys/kernel/btf/vmlinux",
        "exact CPU time cannot be measured",
        "use a kernel with CONFIG_DEBUG_INFO_BTF=y, such as Debian's",
    )


def check_modules(config: dict[str, str]) -> Finding:
    """Whether kernel modules can be loaded: those of Onload, and vfio for DPDK."""
    built = config.get("MODULES", "y") == "y" and Path("/proc/modules").exists()
    if built and "nomodule" not in Path("/proc/cmdline").read_text().split():
        return ok("yes")
    return missing(
        "this kernel loads no modules",
        "Onload cannot run, and DPDK cannot use a NIC if vfio is a module",
        "boot a distribution's kernel; the main comparison needs no modules",
    )


def check_perf_counters() -> Finding:
    """Hardware cycle counters, which virtual machines often hide."""
    devices = Path("/sys/bus/event_source/devices")
    found = [name for name in ("cpu", "cpu_core", "armv8_pmuv3_0") if (devices / name).exists()]
    if found:
        return ok(", ".join(found))
    return missing(
        "the counters of the processor are not visible",
        "no cycles and no cache misses are measured; CPU time is measured nevertheless",
        "run on bare metal, or enable the virtual PMU in the hypervisor",
    )
