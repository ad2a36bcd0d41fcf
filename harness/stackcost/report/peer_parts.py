"""What a polling peer's cost is made of: its stack, copies into packets, and the link.

On one machine the link is a veth, which the kernel carries in the peer's calls and beside them. So
the factor is that of this link at this load. What the stack takes alone is no second factor: the
other side has no such part.
"""

from collections.abc import Sequence

from stackcost.analysis.spread import combined
from stackcost.analysis.summary import Factor, ServerResult, Summary
from stackcost.report.words import number


def peer_sentences(summary: Summary) -> list[str]:
    """The sentence of each peer that a factor is of, once."""
    told = [peer_sentence(found, summary.servers) for found in summary.factors]
    return list(dict.fromkeys(filter(None, told)))


def peer_sentence(found: Factor, servers: Sequence[ServerResult]) -> str:
    """What a peer's cost in a CPU factor is made of; empty where it is not known."""
    level = next(
        (
            level
            for server in servers
            for level in server.levels
            if server.name == found.against and not level.test and found.is_at(level.offered_cps)
        ),
        None,
    )
    if level is None or found.name != "cpu" or not (beside := level.kinds("peer_kernel_cpu")):
        return ""
    own = level.costs
    stack, copying, sending = (
        own[kind].median if kind in own else None for kind in ("stack", "copying", "sending")
    )
    kernel = combined([(1.0, spent) for spent in beside.values()]).median
    if stack is None or sending is None or kernel is None:
        return ""
    copied = "" if copying is None else f" and the copy of payload into packets {number(copying)}"
    return (
        f"Of the {number(found.against_cost.median)} us of {found.against}, its stack takes "
        f"{number(stack)}{copied}; the rest is its link at this load: {number(sending)} to hand "
        f"frames to it and {number(kernel)} of the kernel beside it. Another port has another "
        "factor."
    )
