"""Divides a load among several generators: clients, counts, and the routes back to the clients."""

from collections.abc import Sequence
from ipaddress import IPv4Address, summarize_address_range

from stackcost.contracts.errors import StackcostError


def parts_of(shares: Sequence[float]) -> list[float]:
    """Shares as parts of the whole, whose sum is 1. `shares`: positive numbers of any size."""
    whole = sum(shares)
    return [share / whole for share in shares]


def divide(count: int, parts: Sequence[float]) -> list[int]:
    """A count in whole numbers whose sum is exactly `count`; the largest remainders are rounded up.

    `parts`: parts of the whole, as of `parts_of`.
    """
    exact = [count * part for part in parts]
    whole = [int(each) for each in exact]
    by_remainder = sorted(range(len(parts)), key=lambda at: whole[at] - exact[at])
    for at in by_remainder[: count - sum(whole)]:
        whole[at] += 1
    return whole


def divide_flows(flows: int, parts: Sequence[float]) -> list[int]:
    """Divide a limit of flows: each has one or more, because 0 is no limit in a profile.

    0 stays 0. StackcostError if there are fewer flows than parts.
    """
    if not flows:
        return [0] * len(parts)
    if flows < len(parts):
        raise StackcostError(
            f"{len(parts)} generators cannot divide {flows} flows",
            "hold one flow or more for each generator",
        )
    return [1 + each for each in divide(flows - len(parts), parts)]


def divide_clients(clients: str, parts: Sequence[float]) -> list[str]:
    """Ranges of IPv4 addresses that are disjoint and together are `clients`; each has one or more.

    `clients`: "first-last". StackcostError if there are fewer addresses than parts.
    """
    first, last = (int(IPv4Address(end.strip())) for end in clients.split("-"))
    spare = last - first + 1 - len(parts)
    if spare < 0:
        raise StackcostError(
            f"{len(parts)} generators cannot divide {last - first + 1} client addresses: {clients}",
            "give workload.clients one address or more for each generator",
        )
    ranges = []
    for length in divide(spare, parts):
        end = first + length  # an address of its own, and its part of the others
        ranges.append(f"{IPv4Address(first)}-{IPv4Address(end)}")
        first = end + 1
    return ranges


def networks_of(clients: str) -> tuple[str, ...]:
    """The networks that together are exactly a range of clients, for routes to them."""
    first, last = (IPv4Address(end.strip()) for end in clients.split("-"))
    return tuple(map(str, summarize_address_range(first, last)))
