"""Properties of one end of a link."""

from stackcost.contracts.wiring import End
from stackcost.host.namespace import execute


def hardware_address(end: End) -> str:
    """MAC address of one end."""
    return execute(end.namespace, ["cat", f"/sys/class/net/{end.interface}/address"]).strip()
