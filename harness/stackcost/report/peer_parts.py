"""What a polling peer's cost is made of: its stack, copies into packets, and the link.

On one machine the link is a veth, which the kernel carries in the peer's calls and beside them. So
the factor is that of this link at this load. What the stack takes alone is no second factor: the
other side has no such part.
"""

from stackcost.analysis.spread import combined
from stackcost.analysis.summary import Factor, Level, Summary
from stackcost.report.words import number


def peer_sentences(summary: Summary) -> list[str]:
    """The sentence of each peer that a factor is of, once."""
    told = [_sentence(found, level_of(summary, found.against, found)) for found in summary.factors]
    return list(dict.fromkeys(filter(None, told)))


def level_of(summary: Summary, system: str, found: Factor) -> Level | None:
    """The load of a system that a CPU factor is of."""
    levels = [level for server, level in summary.loads if server.name == system and not level.test]
    return next((level for level in levels if found.is_at(level.offered_cps)), None)


def _sentence(found: Factor, level: Level | None) -> str:
    """Empty where it is not known."""
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
