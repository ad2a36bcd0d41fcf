"""HTTP clients on the kernel's stack: wrk, ab, h2load and one of HTTP/3, behind one interface."""

from stackcost.harness.load.clients import Addresses, Clients
from stackcost.harness.load.program import LoadRequest, LoadResult
from stackcost.harness.load.programs import program

__all__ = ["Addresses", "Clients", "LoadRequest", "LoadResult", "program"]
