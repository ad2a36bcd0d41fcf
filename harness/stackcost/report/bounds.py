"""The two bounds of a CPU factor against a polling peer, and what lies between them.

How much of a connection's cost is the peer's own, and how much is of the link, depends on the
link. On one machine the link is a veth, which the kernel carries in the peer's calls and beside
them. So the answer is a range: from all that the peer's side takes, to its stack alone.
"""

from collections.abc import Sequence

from stackcost.analysis.summary import Factor, ServerResult, Summary
from stackcost.report.words import number, pair, with_interval

LEAST = "at least: all that the peer's side takes"
MOST = "at most: the peer's stack alone"


def has_bounds(found: Factor) -> bool:
    """Whether the second is a polling peer, and what its whole side takes is known."""
    return found.with_kernel.median is not None


def times(found: Factor) -> str:
    """The medians of the bounds; of the least alone where the peer's stack is not known
    separately.
    """
    least, most = number(found.with_kernel.median), found.without_sending.median
    return f"at least {least}" if most is None else f"{least} to {number(most)}"


def bounds_sentences(summary: Summary) -> list[str]:
    """The sentence of each factor that has bounds."""
    told = [bounds_sentence(found, summary.servers) for found in summary.factors]
    return [sentence for sentence in told if sentence]


def bounds_sentence(found: Factor, servers: Sequence[ServerResult]) -> str:
    """The bounds with their intervals, and what lies between; empty where they are not known."""
    if not has_bounds(found):
        return ""
    told = (
        f"{pair(found.baseline, found.against)}: at least {with_interval(found.with_kernel)} times "
        "as much CPU, by all that the peer's side takes"
    )
    if found.without_sending.median is None:
        return f"{told}. The most is not known, because the peer does not tell its stack apart."
    told += f", and at most {with_interval(found.without_sending)} times, by its stack alone"
    return f"{told}. {_between(found, servers)}".rstrip()


def _between(found: Factor, servers: Sequence[ServerResult]) -> str:
    level = next((each.quoted for each in servers if each.name == found.against), None)
    if level is None:
        return ""
    parts = {
        "stack": level.kinds("server_cpu").get("stack"),
        "sending": level.kinds("server_cpu").get("sending"),
        **level.kinds("peer_kernel_cpu"),
    }
    known = {kind: cost.median for kind, cost in parts.items() if cost and cost.median is not None}
    stack, sending = known.pop("stack", None), known.pop("sending", None)
    if stack is None or sending is None:
        return ""
    return (
        f"Its stack takes {number(stack)} us. Between the two lies the link: {number(sending)} us "
        f"to hand frames to it, and {number(sum(known.values()))} us of the kernel beside the "
        "peer. On a veth this says more about AF_XDP on a veth than about a stack; with a NIC the "
        "factor lies between the two."
    )
