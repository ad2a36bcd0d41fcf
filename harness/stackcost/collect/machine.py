"""Describes the machine and its network namespaces for the manifest.

Every part reads files or runs a program that only prints. What cannot be read is None.
"""

import contextlib
import os
import platform
import re
import subprocess
from collections.abc import Sequence
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

from stackcost.collect import kernel
from stackcost.collect.slab import merged_caches
from stackcost.contracts.tuning import CONGESTION_CONTROL
from stackcost.files import DEBIAN_PACKAGES, SUITE
from stackcost.host.cores import online_cpus, place_of
from stackcost.host.namespace import execute

CPU = Path("/sys/devices/system/cpu")
# Of the whole machine.
SYSCTLS = (
    "net.core.netdev_budget",
    "net.core.netdev_budget_usecs",
    "net.core.netdev_max_backlog",
    "net.core.dev_weight",
    "net.core.busy_poll",
    "net.core.busy_read",
    "net.core.rps_sock_flow_entries",
    "net.core.bpf_jit_enable",
    "net.core.bpf_jit_harden",
    "net.core.default_qdisc",
    "net.ipv4.tcp_mem",
    "net.netfilter.nf_conntrack_max",
    "fs.file-max",
    "fs.nr_open",
    "kernel.nmi_watchdog",
    "kernel.numa_balancing",
    "kernel.sched_rt_runtime_us",
    "vm.nr_hugepages",
)
# Of each network namespace.
OF_NAMESPACE = (
    "net.core.somaxconn",
    CONGESTION_CONTROL,
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_sack",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.ip_local_port_range",
)
BROUGHT_PACKAGES = ("nginx", "libbpf1", "libc6")  # what figures depend on and those bring
PYTHON_PACKAGES = ("lbr-trex-client", "pyroute2", "psutil", "pyarrow", "numpy", "scipy")


def describe_machine() -> dict[str, Any]:
    """Kernel, processors, memory, settings, interrupts and versions, as plain JSON values."""
    return {
        "kernel": _describe_kernel(),
        "processors": _describe_processors(),
        "memory": _describe_memory(),
        "sysctls": {name: _read(f"/proc/sys/{name.replace('.', '/')}") for name in SYSCTLS},
        "interrupts": _describe_interrupts(),
        "versions": _describe_versions(),
        "debian_packages": _describe_debian_packages(),
        "source": _describe_source(),
    }


def namespace_settings(namespace: str) -> dict[str, str]:
    """The current values of OF_NAMESPACE, without settings that this kernel does not have."""
    lines = execute(namespace, ["sysctl", "-e", *OF_NAMESPACE]).splitlines()
    pairs = (line.split(" = ", 1) for line in lines)
    return {name: " ".join(value.split()) for name, value in pairs}


def _describe_kernel() -> dict[str, Any]:
    return {
        "release": platform.release(),
        "version": platform.version(),
        "command_line": _read("/proc/cmdline"),
        "cpu_accounting": kernel.accounting_mode(),
        "options": kernel.options(),
        "clock_source": _read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "merged_slab_caches": merged_caches(),
    }


def _describe_processors() -> dict[str, Any]:
    information = _read("/proc/cpuinfo") or ""
    model = re.search(r"^model name\s*:\s*(.*)$", information, re.MULTILINE)
    vulnerabilities = CPU / "vulnerabilities"
    return {
        "model": model[1] if model else None,
        "architecture": platform.machine(),
        "online": online_cpus(),
        "isolated": _read(CPU / "isolated"),
        "nohz_full": _read(CPU / "nohz_full"),
        "sibling_threads_in_use": _read(CPU / "smt/active"),
        "places": {str(cpu): asdict(place_of(cpu)) for cpu in online_cpus()},
        "virtual": " hypervisor" in information,
        "governors": {
            str(cpu): _read(CPU / f"cpu{cpu}/cpufreq/scaling_governor") for cpu in online_cpus()
        },
        "boost": _read(CPU / "cpufreq/boost"),
        "idle_driver": _read(CPU / "cpuidle/current_driver"),
        "mitigations": {file.name: _read(file) for file in sorted(vulnerabilities.glob("*"))},
    }


def _describe_memory() -> dict[str, Any]:
    wanted = ("MemTotal", "HugePages_Total", "HugePages_Free", "Hugepagesize")
    lines = (_read("/proc/meminfo") or "").splitlines()
    values = {name: rest.strip() for name, rest in (line.split(":") for line in lines)}
    return {name: values.get(name) for name in wanted} | {
        "transparent_hugepages": _read("/sys/kernel/mm/transparent_hugepage/enabled"),
        "page_bytes": os.sysconf("SC_PAGE_SIZE"),
    }


def _describe_interrupts() -> list[dict[str, str | None]]:
    """Each device interrupt, its name, and the CPUs it may and does go to."""
    found = []
    for line in (_read("/proc/interrupts") or "").splitlines()[1:]:
        number, rest = line.split(":", 1)
        if number.strip().isdigit():
            folder = Path("/proc/irq") / number.strip()
            found.append(
                {
                    "interrupt": number.strip(),
                    "name": rest.split()[-1],
                    "allowed_cpus": _read(folder / "smp_affinity_list"),
                    "effective_cpus": _read(folder / "effective_affinity_list"),
                }
            )
    return found


def _describe_versions() -> dict[str, str | None]:
    versions: dict[str, str | None] = {"python": platform.python_version()}
    for package in PYTHON_PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    return versions


def _describe_debian_packages() -> dict[str, Any]:
    """Versions by name; None for one that is not installed. None for all, with the reason, where
    they cannot be known.
    """
    listed = _read(DEBIAN_PACKAGES)
    if listed is None:
        return {"versions": None, "reason": f"the file {DEBIAN_PACKAGES} does not exist"}
    names = [*listed.split(), *BROUGHT_PACKAGES]
    command = ["dpkg-query", "-W", "-f=${Package} ${db:Status-Status} ${Version}\\n", *names]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except FileNotFoundError:
        return {
            "versions": None,
            "reason": "there is no dpkg-query: this machine does not run Debian",
        }
    except (OSError, subprocess.TimeoutExpired) as error:
        return {"versions": None, "reason": str(error)}
    versions: dict[str, str | None] = dict.fromkeys(names)
    for line in done.stdout.splitlines():  # none of those that dpkg has never heard of
        name, status, version = line.split(" ", 2)
        if status == "installed":
            versions[name] = version
    return {"versions": versions, "reason": ""}


def _describe_source() -> dict[str, Any]:
    """The commit this suite was run from; `changed` names files that differ from it."""
    git = ["git", "-C", str(SUITE)]
    changed = _run([*git, "status", "--porcelain", "--untracked-files=no"])
    return {
        "commit": _run([*git, "rev-parse", "HEAD"]),
        "changed": None if changed is None else [line[3:] for line in changed.splitlines()],
    }


def _read(path: str | Path) -> str | None:
    try:
        return Path(path).read_text(errors="replace").strip()
    except OSError:
        return None


def _run(command: Sequence[str]) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.rstrip() if done.returncode == 0 else None
