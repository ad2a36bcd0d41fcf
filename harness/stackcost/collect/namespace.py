"""Settings of a network namespace, for the manifest."""

from stackcost.contracts.tuning import CONGESTION_CONTROL
from stackcost.host.namespace import execute

SYSCTLS = (
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


def namespace_settings(namespace: str) -> dict[str, str]:
    """The current values by name, without settings that this kernel does not have."""
    lines = execute(namespace, ["sysctl", "-e", *SYSCTLS]).splitlines()
    pairs = (line.split(" = ", 1) for line in lines)
    return {name: " ".join(value.split()) for name, value in pairs}
