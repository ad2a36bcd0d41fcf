"""A Linux router and nothing else; connections are not tracked."""

from stackcost.duts.base import Dut


class Forwarding(Dut):
    """The device with which all others are compared."""

    name = "dut/forwarding"
