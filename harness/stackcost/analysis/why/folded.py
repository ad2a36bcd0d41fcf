"""The exact cost by whole stacks, for flame graphs."""

from collections import defaultdict
from collections.abc import Collection

from stackcost.analysis.readings import Readings
from stackcost.analysis.why.attribution import interrupts, kinds_of


def weighted(seen: Readings, cpus: Collection[int]) -> dict[str, float]:
    """Microseconds per connection by stack: functions with ";" between them, the outermost first.

    Each begins with its kind of time. A kind without a sample, and the loop of a polling peer, are
    one stack each. Empty where the cost or the stacks are not known.
    """
    found: dict[str, float] = defaultdict(float)
    for of in kinds_of(seen, cpus):
        if file := of.whole:
            found[f"{of.kind};{file}"] += of.us
            continue
        times = of.times
        if not times:
            found[of.kind] += of.us
        for each in of.samples:
            found[f"{of.kind};{each.stack}"] += of.us * each.times / times
    if found:
        for part in interrupts(seen, cpus):
            found[f"irq;{part.behalf};{part.category}"] += part.us
    return dict(found)
