"""The exact cost by whole stacks, for flame graphs."""

from collections import defaultdict
from collections.abc import Collection

from stackcost.analysis.readings import Readings
from stackcost.analysis.why.division import OF_PEERS, file_of, interrupts, kinds_of


def weighted(seen: Readings, cpus: Collection[int]) -> dict[str, float]:
    """Microseconds per connection by stack: functions with ";" between them, the outermost first.

    Each begins with its kind of time. A kind without a sample, and the loop of a polling peer, are
    one stack each. Empty where the cost or the stacks are not known.
    """
    found: dict[str, float] = defaultdict(float)
    for kind, us, samples in kinds_of(seen, cpus):
        if kind in OF_PEERS and samples:
            found[f"{kind};{file_of(samples)}"] += us
            continue
        whole = sum(each.times for each in samples)
        if not whole:
            found[kind] += us
        for each in samples:
            found[f"{kind};{each.stack}"] += us * each.times / whole
    if found:
        for part in interrupts(seen, cpus):
            found[f"irq;{part.behalf};{part.category}"] += part.us
    return dict(found)
