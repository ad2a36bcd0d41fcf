"""Address translation of the clients: all behind one address, or each behind its own."""

from stackcost.duts.nat44.dut import Nat44 as Nat44
