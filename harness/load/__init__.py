"""HTTP clients on the kernel's stack: wrk, ab and h2load behind one interface."""

from stackcost.harness.load.clients import Addresses, Clients
from stackcost.harness.load.program import LoadRequest, LoadResult
from stackcost.harness.load.programs import program

__all__ = ["Addresses", "Clients", "LoadRequest", "LoadResult", "program"]
