"""The client programs by name."""

from stackcost.contracts.errors import StackcostError
from stackcost.load.ab import ApacheBench
from stackcost.load.h2load import H2load
from stackcost.load.http3 import Http3Client
from stackcost.load.program import LoadProgram
from stackcost.load.wrk import Wrk


def program(name: str) -> LoadProgram:
    """The program of this name. StackcostError when there is none."""
    every: tuple[LoadProgram, ...] = (Wrk(), ApacheBench(), H2load(), Http3Client())
    known = {each.name: each for each in every}
    if name not in known:
        raise StackcostError(
            f"there is no HTTP client {name!r}", f"choose one of {', '.join(known)}"
        )
    return known[name]
