"""Which functions the slab memory of a flow belongs to.

How many bytes of a cache a flow takes is exact: the slope of the cache. Its owners' shares are
those of the objects that were allocated on the server's cores while flows were opened, and were
left when memory was read; some of these were followed, drawn at random.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from stackcost.analysis.memory import held_flows
from stackcost.analysis.readings import Readings
from stackcost.analysis.why.table import table

OTHERS = "others"
SHOWN_SHARE = 0.02  # of a cache: owners of less are added up


class Owned(NamedTuple):
    """Objects of one cache that a function allocated, per flow: left, and freed again."""

    left: float
    passed: float


def owners(holds: Sequence[Readings]) -> dict[str, dict[str, Owned]]:
    """By cache and function, over all holds of a round; empty where nothing was followed."""
    counted: dict[str, dict[str, list[float]]] = defaultdict(
        lambda: defaultdict(lambda: [0.0, 0.0])
    )
    flows = sum(held_flows(seen) for seen in holds)
    for seen in holds:
        for place, metric in enumerate(("slab.left", "slab.passed")):
            for sample in seen.samples(metric):
                if sample.value:
                    cache, stack = sample.labels["cache"], sample.labels["stack"]
                    counted[cache][table().owner(stack)][place] += sample.value
    return {
        cache: {name: Owned(*(each / flows for each in counts)) for name, counts in found.items()}
        for cache, found in counted.items()
        if flows
    }


def shares(found: dict[str, Owned]) -> dict[str, float]:
    """Share (0 to 1) of the objects left of one cache by function, the largest first; small ones
    are "others".
    """
    whole = sum(each.left for each in found.values())
    if not whole:
        return {}
    every = {name: each.left / whole for name, each in found.items()}
    named = {name: share for name, share in every.items() if share >= SHOWN_SHARE}
    ordered = dict(sorted(named.items(), key=lambda item: -item[1]))
    rest = 1 - sum(named.values())
    return ordered | ({OTHERS: rest} if rest > 1e-9 else {})
