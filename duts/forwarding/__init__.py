"""Plain forwarding: a router without rules, the reference for the path through a device."""

from stackcost.duts.forwarding.dut import Forwarding as Forwarding
