"""The wire itself, for what the generator and the path can do with nothing between."""

from typing import Any

from stackcost.contracts.wiring import BACK_TO_BACK
from stackcost.duts.base import Dut


class Wire(Dut):
    """One veth pair from the generator to itself."""

    name = "dut/wire"
    wiring = BACK_TO_BACK

    def start(self) -> None:
        """Nothing stands between the ports, and nothing is to be configured."""
        self.start_behind()

    def describe(self) -> dict[str, Any]:
        """That there is none."""
        return {
            "name": self.name,
            "behind": self.behind.describe() if self.behind else None,
        }
