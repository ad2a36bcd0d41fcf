"""HTTP clients on the kernel's stack: wrk, ab, h2load and one of HTTP/3, behind one interface."""

from stackcost.clients.clients import Addresses, Clients
from stackcost.clients.program import LoadRequest, LoadResult
from stackcost.clients.programs import program

__all__ = ["Addresses", "Clients", "LoadRequest", "LoadResult", "program"]
