"""A direct link, which shows the limit of the generator and the path without a device."""

from typing import Any

from stackcost.contracts.wiring import BACK_TO_BACK
from stackcost.duts.base import Dut


class Wire(Dut):
    """One veth pair from the generator to itself."""

    name = "dut/wire"
    wiring = BACK_TO_BACK

    def start(self) -> None:
        """There is no device to configure."""
        self.start_backend()

    def describe(self) -> dict[str, Any]:
        """The description: there is no device."""
        return {
            "name": self.name,
            "backend": self.backend.describe() if self.backend else None,
        }
