"""Plain forwarding: a router without a rule, which shows what the path through a device can do."""

from stackcost.duts.forwarding.dut import Forwarding as Forwarding
