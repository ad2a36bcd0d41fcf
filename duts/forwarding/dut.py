"""A Linux router and nothing else; connections are not tracked."""

from stackcost.duts.base import Dut


class Forwarding(Dut):
    """The device that every other kind is compared with."""

    name = "dut/forwarding"
