"""HTTP clients on the kernel's stack: wrk, ab and h2load behind one interface."""

from harness.load.clients import Addresses, Clients
from harness.load.program import Ask, Told
from harness.load.programs import program

__all__ = ["Addresses", "Ask", "Clients", "Told", "program"]
