"""HTTP clients on the kernel's stack: wrk, ab, h2load and one of HTTP/3, behind one interface."""

from stackcost.clients.ab import ApacheBench
from stackcost.clients.clients import Addresses, Clients
from stackcost.clients.h2load import H2load
from stackcost.clients.http3 import Http3Client
from stackcost.clients.program import LoadProgram, LoadRequest, LoadResult
from stackcost.clients.wrk import Wrk
from stackcost.contracts.errors import StackcostError


def program(name: str) -> LoadProgram:
    """The program of this name. StackcostError when there is none."""
    every: tuple[LoadProgram, ...] = (Wrk(), ApacheBench(), H2load(), Http3Client())
    known = {each.name: each for each in every}
    if name not in known:
        raise StackcostError(
            f"there is no HTTP client {name!r}", f"choose one of {', '.join(known)}"
        )
    return known[name]


__all__ = ["Addresses", "Clients", "LoadRequest", "LoadResult", "program"]
