"""Figures of memory: slopes and intercepts of the lines through flows that were held open."""

from collections.abc import Callable
from statistics import median

from stackcost.analysis.figures.figure import Figure, Values
from stackcost.analysis.figures.groups import of_lines
from stackcost.analysis.memory.memory_total import HoldTrials, shares
from stackcost.contracts.metrics import SLAB_LEFT

SHOWN_CACHES = 12
SHOWN_PASSED = 0.05  # objects per flow: functions with fewer are left out
AS_PER_FLOW = "as memory.per_flow"


def _total(holds: HoldTrials) -> Values:
    each_round, why = holds.per_flow
    return Values(list(each_round.values()), list(each_round), why)


def _largest_caches(holds: HoldTrials) -> dict[str, Values]:
    """The caches with the largest slopes, by the median of the rounds."""
    slopes = of_lines(holds.caches, "slope")
    sizes = {name: abs(_median(values)) for name, values in slopes.items()}
    largest = sorted(sorted(slopes), key=lambda name: sizes[name], reverse=True)
    return {name: slopes[name] for name in largest[:SHOWN_CACHES]}


def _of_owners(
    holds: HoldTrials, value: Callable[[str, int], dict[str, float]]
) -> dict[str, Values]:
    """Of the caches that the total has, a value by "cache: function" in each round."""
    if "kernel slab" not in holds.counted:
        return {}
    rounds = list(holds.caches)
    if not any(holds.owners.values()):
        reasons = (readings.why_unknown(SLAB_LEFT) for readings in holds.trials)
        why = next(filter(None, reasons), "")
        return {"all": Values([None] * len(rounds), rounds, why)} if why else {}
    shown = [
        cache
        for cache, each in _largest_caches(holds).items()
        if cache in holds.counted_caches and abs(_median(each)) >= 1
    ]
    by_round = [
        {f"{cache}: {name}": each for cache in shown for name, each in value(cache, number).items()}
        for number in rounds
    ]
    names = dict.fromkeys(name for each in by_round for name in each)
    known = [bool(holds.owners[number]) for number in rounds]
    return {
        name: Values(
            [
                each.get(name, 0.0) if followed else None
                for each, followed in zip(by_round, known, strict=True)
            ],
            rounds,
        )
        for name in names
    }


def _owners(holds: HoldTrials) -> dict[str, Values]:
    def value(cache: str, number: int) -> dict[str, float]:
        line = holds.caches[number].get(cache)
        found = shares(holds.owners[number].get(cache, {}))
        return {name: line.slope * share for name, share in found.items()} if line else {}

    return _of_owners(holds, value)


def _passed(holds: HoldTrials) -> dict[str, Values]:
    def value(cache: str, number: int) -> dict[str, float]:
        found = holds.owners[number].get(cache, {})
        return {name: each.passed for name, each in found.items() if each.passed >= SHOWN_PASSED}

    return _of_owners(holds, value)


def _median(values: Values) -> float:
    known = [value for value in values.each if value is not None]
    return median(known) if known else 0.0


PER_FLOW = Figure[HoldTrials](
    name="memory.per_flow",
    unit="B",
    definition="slope of a least-squares line through memory over the number of flows held open",
    source="kernel slab: /proc/slabinfo, caches with objects of a connection; socket buffers: "
    "/proc/net/sockstat TCP mem; process: /proc/PID/smaps_rollup Pss of the server's processes; "
    "engine pools: objects in use x their size, stackcost_get_memory",
    of="memory",
    compute=lambda holds: of_lines(holds.fitted, "slope"),
)
AT_NO_FLOW = Figure[HoldTrials](
    name="memory.at_no_flow",
    unit="B",
    definition="intercept of the line of memory.per_flow: memory without any flow, in the "
    "kernel's kinds that of the whole machine",
    source=AS_PER_FLOW,
    of="memory",
    compute=lambda holds: of_lines(holds.fitted, "intercept"),
)
TOTAL = Figure[HoldTrials](
    name="memory.total",
    unit="B",
    definition="sum of the slopes of the kinds in `counted`. A peer's flows are in its pools, so "
    "its process is shown and not added, and the kernel's memory is noise",
    source=AS_PER_FLOW,
    of="memory",
    judged=True,
    compute=_total,
)
STRAIGHTNESS = Figure[HoldTrials](
    name="memory.straightness",
    unit="1",
    definition="coefficient of determination of the line of memory.per_flow: 1 if every point is "
    "on it",
    source=AS_PER_FLOW,
    of="memory",
    compute=lambda holds: of_lines(holds.fitted, "r_squared"),
)
CACHES = Figure[HoldTrials](
    name="memory.caches",
    unit="B",
    definition="slope of one slab cache over the number of flows held open",
    source="/proc/slabinfo: whole slabs of the cache",
    of="memory",
    compute=_largest_caches,
)
OWNERS = Figure[HoldTrials](
    name="memory.owners",
    unit="B",
    definition="memory.caches of one cache, divided by the function that allocated its objects: "
    "as those that were allocated on the server's cores while flows were opened, and left when "
    "memory was read. One allocation in 8, drawn at random, is followed",
    source="/proc/slabinfo; tracepoints kmem:kmem_cache_alloc and kmem:kmalloc with the kernel's "
    "stack; harness/stackcost/analysis/why/functions.yaml has the functions that allocate for "
    "others",
    of="memory",
    compute=_owners,
)
PASSED = Figure[HoldTrials](
    name="memory.passed",
    unit="1",
    definition="objects of one cache that a function allocated for each flow while flows were "
    "opened, and that were freed before memory was read",
    source="tracepoints kmem:kmem_cache_free and kmem:kfree of the followed objects; frees in "
    "bulk have no tracepoint",
    of="memory",
    compute=_passed,
)
SOCKETS = Figure[HoldTrials](
    name="memory.sockets",
    unit="1",
    definition="TCP sockets of the kernel for each flow held open: in the system's namespace "
    "(own), and of the server behind a device (backend)",
    source="/proc/net/sockstat TCP inuse; sockets of the server behind",
    of="memory",
    compute=lambda holds: of_lines(holds.sockets, "slope"),
)
