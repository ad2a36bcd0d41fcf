"""A stateful firewall with a linear list of rules."""

from stackcost.duts.nftables.dut import Nftables as Nftables
