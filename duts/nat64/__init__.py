"""NAT64: IPv6 clients reach IPv4 servers; each client gets an IPv4 address of its own."""

from stackcost.duts.nat64.dut import Nat64 as Nat64
