"""Figures of memory: slopes and intercepts of the lines through flows that were held open."""

from statistics import median

from stackcost.analysis.figures.figure import Figure, Values
from stackcost.analysis.figures.groups import of_lines
from stackcost.analysis.memory_total import Holds

SHOWN_CACHES = 12
AS_PER_FLOW = "as memory.per_flow"


def _total(holds: Holds) -> Values:
    each_round, why = holds.per_flow
    return Values(list(each_round.values()), list(each_round), why)


def _largest_caches(holds: Holds) -> dict[str, Values]:
    """The caches with the largest slopes, by the median of the rounds."""
    slopes = of_lines(holds.caches, "slope")
    sizes = {name: abs(_median(values)) for name, values in slopes.items()}
    largest = sorted(sorted(slopes), key=lambda name: sizes[name], reverse=True)
    return {name: slopes[name] for name in largest[:SHOWN_CACHES]}


def _median(values: Values) -> float:
    known = [value for value in values.each if value is not None]
    return median(known) if known else 0.0


PER_FLOW = Figure[Holds](
    name="memory.per_flow",
    unit="B",
    definition="slope of a least-squares line through memory over the number of flows held open; "
    "memory that was reserved before is part of the line's intercept",
    source="kernel slab: /proc/slabinfo, caches with objects of a connection; socket buffers: "
    "/proc/net/sockstat TCP mem; process: /proc/PID/smaps_rollup Pss of the server's processes; "
    "engine pools: objects in use x their size, stackcost_get_memory",
    of="memory",
    compute=lambda holds: of_lines(holds.fitted, "slope"),
)
AT_NO_FLOW = Figure[Holds](
    name="memory.at_no_flow",
    unit="B",
    definition="intercept of the same line: memory without any connection; of the kernel's kinds "
    "it is the whole machine's",
    source=AS_PER_FLOW,
    of="memory",
    compute=lambda holds: of_lines(holds.fitted, "intercept"),
)
TOTAL = Figure[Holds](
    name="memory.total",
    unit="B",
    definition="sum of the slopes of the kinds in `counted`; a peer's flows are in its pools, "
    "inside its process or in hugepages, so the process is shown but not added, and the kernel's "
    "memory over a peer's flows is only noise",
    source=AS_PER_FLOW,
    of="memory",
    judged=True,
    compute=_total,
)
STRAIGHTNESS = Figure[Holds](
    name="memory.straightness",
    unit="1",
    definition="coefficient of determination of that line: 1 when every point is on it",
    source=AS_PER_FLOW,
    of="memory",
    compute=lambda holds: of_lines(holds.fitted, "r_squared"),
)
CACHES = Figure[Holds](
    name="memory.caches",
    unit="B",
    definition="slope of one slab cache of the kernel over the number of flows held open",
    source="/proc/slabinfo: whole slabs of the cache",
    of="memory",
    compute=_largest_caches,
)
SOCKETS = Figure[Holds](
    name="memory.sockets",
    unit="1",
    definition="TCP sockets of the kernel for each flow held open: in the system's namespace "
    "(own), and of the server behind a device (behind)",
    source="/proc/net/sockstat TCP inuse; sockets of the server behind",
    of="memory",
    compute=lambda holds: of_lines(holds.sockets, "slope"),
)
