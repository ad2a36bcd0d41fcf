"""A Linux bridge of two ports."""

import json

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.wiring import THROUGH_BRIDGE
from stackcost.duts.base import Dut

BRIDGE = "sc-bridge0"


class Bridge(Dut):
    """The generator's ports are in one network, and the bridge learns their MAC addresses."""

    name = "dut/bridge"
    wiring = THROUGH_BRIDGE

    def configure(self) -> None:
        """One bridge with both interfaces, without spanning tree, which would delay its ports."""
        self.ip(
            f"link add {BRIDGE} type bridge stp_state 0",
            *(f"link set {interface} master {BRIDGE}" for interface in self.interfaces),
            f"link set {BRIDGE} up",
        )

    def check_health(self) -> None:
        """Check that both interfaces are in the forwarding state."""
        ports = json.loads(self.execute("bridge", "-json", "link"))
        states = {port["ifname"]: port["state"] for port in ports}
        wrong = {
            name: states.get(name) for name in self.interfaces if states.get(name) != "forwarding"
        }
        if wrong:
            raise StackcostError(f"{self.name} does not forward: {wrong}")
