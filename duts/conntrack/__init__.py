"""Plain forwarding with connection tracking switched on."""

from stackcost.duts.conntrack.dut import Conntrack as Conntrack
