"""Whether this kernel speaks multipath TCP."""

from pathlib import Path

ENABLED = Path("/proc/sys/net/mptcp/enabled")


def refused() -> str:
    """Why it does not, as "reason; what to do"; empty if it does."""
    if ENABLED.exists() and ENABLED.read_text().strip() == "1":
        return ""
    return (
        "this kernel has no MPTCP, or it is off; use one with CONFIG_MPTCP=y, or: sysctl -w "
        "net.mptcp.enabled=1"
    )
