"""Which client programs there are, by name."""

from harness.load.ab import ApacheBench
from harness.load.h2load import H2load
from harness.load.program import Program
from harness.load.wrk import Wrk
from stackcost.contracts.errors import StackcostError


def program(name: str) -> Program:
    """The program of this name. StackcostError when there is none."""
    known: dict[str, Program] = {each.name: each for each in (Wrk(), ApacheBench(), H2load())}
    if name not in known:
        raise StackcostError(f"there is no HTTP client {name!r}", f"one of {', '.join(known)}")
    return known[name]
