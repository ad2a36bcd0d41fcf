"""Which of the server's cores do receive work, and which run its programs."""

from collections.abc import Callable, Sequence

from stackcost.contracts.tuning import Receive
from stackcost.host.cores import CpuPlace, place_of


def layout(
    receive: Receive, cores: Sequence[int], place: Callable[[int], CpuPlace] = place_of
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The cores that receive, and those of the server's programs; the same ones unless `apart`.

    Apart as in the Solarflare white paper, table 1, configuration 1: of cores on several NUMA nodes
    those of the first node receive, on which a NIC would be. On one node, one hardware thread of
    each core receives, and its sibling runs programs. Cores with a single thread are halved.
    """
    if not receive.apart:
        return tuple(cores), tuple(cores)
    places = {core: place(core) for core in cores}
    node = places[cores[0]].node
    threads = [each.core for each in places.values()]
    if any(each.node != node for each in places.values()):
        first = [core for core in cores if places[core].node == node]
    elif all(threads.count(each) > 1 for each in threads):
        lowest = {of.core: of.thread for of in sorted(places.values(), key=lambda of: -of.thread)}
        first = [core for core in cores if places[core].thread == lowest[places[core].core]]
    else:
        first = list(cores[: len(cores) // 2])
    return tuple(first), tuple(core for core in cores if core not in first)
