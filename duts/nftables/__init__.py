"""A stateful firewall with a linear list of rules."""

from duts.nftables.dut import Nftables as Nftables
