"""Address translation of the clients, to one common address or to one address each."""

from stackcost.duts.nat44.dut import Nat44 as Nat44
