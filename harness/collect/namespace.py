"""How a network namespace and its interface are set up, for the manifest."""

from typing import Any

from harness.errors import StackcostError
from harness.testbed.namespace import execute

SYSCTLS = (
    "net.core.somaxconn",
    "net.ipv4.tcp_congestion_control",
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


def describe_namespace(namespace: str, interface: str) -> dict[str, Any]:
    """The namespace's settings, and its interface's offloads by name and steering by queue.

    None for what cannot be read.
    """
    folder = f"/sys/class/net/{interface}"
    offloads = _run(namespace, ["ethtool", "--show-features", interface])
    queues = _run(namespace, ["grep", "-r", "-s", ".", f"{folder}/queues"])
    settings = {name: _run(namespace, ["sysctl", "-n", name]) for name in SYSCTLS}
    return {
        "namespace": namespace,
        "interface": interface,
        "sysctls": settings,
        "mtu": _run(namespace, ["cat", f"{folder}/mtu"]),
        "threaded_napi": _run(namespace, ["cat", f"{folder}/threaded"]),
        "offloads": None if offloads is None else _pairs(offloads.partition("\n")[2], ""),
        "queues": None if queues is None else _pairs(queues, f"{folder}/queues/"),
    }


def _pairs(text: str, prefix: str) -> dict[str, str]:
    pairs = (line.removeprefix(prefix).split(":", 1) for line in text.splitlines() if ":" in line)
    return {name.strip(): value.strip() for name, value in pairs}


def _run(namespace: str, command: list[str]) -> str | None:
    try:
        return execute(namespace, command).strip()
    except StackcostError:
        return None
