"""A device that stackcost does not run: it is given by what it is, and reached by its two ports."""

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.server import ServerSettings
from stackcost.contracts.wiring import THROUGH_BRIDGE, THROUGH_ROUTER, Wiring
from stackcost.duts.base import Dut


class External(Dut):
    """Its owner has configured it; `settings.dut.device` says what it is."""

    name = "dut/external"
    passes_every_port = False

    @classmethod
    def wiring_for(cls, settings: ServerSettings) -> Wiring:
        """The generator's ports are in one network, or each is in one of its own."""
        device, version = settings.dut.device, settings.dut.ip_version
        bridge = device is not None and device.forwards == "frames"
        return (THROUGH_BRIDGE if bridge else THROUGH_ROUTER).over((version, version))

    def start(self) -> None:
        """Nothing here can start it."""
        raise StackcostError(
            f"{self.name} is not on this machine",
            "name the interfaces that are joined to it: bed.load in the experiment",
        )
