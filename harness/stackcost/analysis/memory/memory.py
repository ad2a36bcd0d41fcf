"""Bytes per open flow: the slope of memory over the number of flows held open, never one point.

A slope separates what a connection costs from what was taken beforehand: a server that reserves
its tables at start has a high intercept and a low slope, and both are reported.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from stackcost.analysis.memory.slab import SOCKETS, connection_bytes
from stackcost.analysis.readings import Readings
from stackcost.contracts import metrics

HOLD = "hold"
PACKET_BUFFERS = "packet buffer"  # the pool of the engine that is none of flows
KEPT = ("process", "backend process", "engine reserved")
Merged = Mapping[str, Sequence[str]]  # slab caches that the kernel merged, by name


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line through memory over open flows.

    `slope`: bytes per flow. `intercept`: bytes with no flow. `r_squared`: 1 when every point is on
    the line. `points`: (open flows, bytes).
    """

    slope: float
    intercept: float
    r_squared: float
    points: tuple[tuple[float, float], ...]


def fit(points: Sequence[tuple[float, float]]) -> Line | None:
    """Least squares; None with fewer than two different numbers of flows."""
    flows = [count for count, _ in points]
    if len(set(flows)) < 2:
        return None
    sizes = [size for _, size in points]
    from scipy.stats import linregress  # takes a second, which a stored answer does not need

    result = linregress(flows, sizes)
    straight = float(result.rvalue**2) if len(set(sizes)) > 1 else 1.0
    return Line(float(result.slope), float(result.intercept), straight, tuple(points))


def components(readings: Readings, merged: Merged) -> dict[str, float]:
    """Bytes of each kind of memory while a trial's flows were open; unknown kinds are absent.

    "kernel slab": caches that a connection is made of. "other slab": all others. "socket
    buffers": what the kernel charged to TCP sockets. "process": memory of the server's processes,
    shared pages divided. "backend process": the same of the server behind a device.
    "engine pools": objects in use in the pools of a peer that keeps its flows itself, without its
    packet buffers: no flow holds one, and how many are in use at the moment says nothing of flows.
    "engine reserved": all that its pools took beforehand.
    """
    readings = readings.at(HOLD)
    caches = readings.by_label(metrics.SLAB_BYTES, "cache")
    pools = readings.by_label(metrics.ENGINE_POOL_IN_USE, "pool", engine="peer")
    of_flows = [size for pool, size in pools.items() if pool != PACKET_BUFFERS]
    own = connection_slab(readings, merged)
    found = {
        "kernel slab": own,
        "other slab": sum(caches.values()) - (own or 0) if caches else None,
        "socket buffers": readings.level(metrics.SOCKSTAT_MEMORY, protocol="TCP"),
        "process": readings.level(metrics.PROCESS_PSS),
        "backend process": readings.level(metrics.BACKEND_PSS),
        "engine pools": sum(of_flows) if of_flows else None,
        "engine reserved": readings.level(metrics.ENGINE_POOL_RESERVED, engine="peer"),
    }
    return {name: size for name, size in found.items() if size is not None}


def connection_slab(readings: Readings, merged: Merged, also: Collection[str] = ()) -> float | None:
    """Bytes of the slab caches that connections are made of, and of others; None if not read."""
    caches = readings.by_label(metrics.SLAB_BYTES, "cache")
    own = {cache: caches[cache] for cache in also if cache in caches}
    own |= _of_connections(readings, merged)
    return sum(own.values()) if own else None


def _of_connections(readings: Readings, merged: Merged) -> dict[str, float]:
    return connection_bytes(
        readings.by_label(metrics.SLAB_BYTES, "cache"),
        readings.by_label(metrics.SLAB_OBJECTS, "cache"),
        readings.level(metrics.SLAB_ACTIVE, cache=SOCKETS),
        merged,
    )


def lines(holds: Sequence[Readings], merged: Merged) -> dict[str, Line]:
    """One line per kind of memory through the holds of one server in one round.

    `holds`: in the order in which they were made. A process may keep memory of flows that have
    closed, so its line goes only through the holds that had more flows than any before.
    """
    sizes = [(held_flows(readings), components(readings, merged)) for readings in holds]
    growing = [
        (flows, found)
        for at, (flows, found) in enumerate(sizes)
        if all(flows > before for before, _ in sizes[:at])
    ]
    kept = {kind: line for kind, line in _fit_each(growing).items() if kind in KEPT}
    return _fit_each(sizes) | kept


def cache_lines(holds: Sequence[Readings], merged: Merged) -> dict[str, Line]:
    """One line per slab cache: which kernel objects make up the cost.

    Of a cache that counts, the bytes that count; of others all.
    """
    return _fit_each(
        [
            (
                held_flows(readings),
                (hold := readings.at(HOLD)).by_label(metrics.SLAB_BYTES, "cache")
                | _of_connections(hold, merged),
            )
            for readings in holds
        ]
    )


def socket_lines(holds: Sequence[Readings]) -> dict[str, Line]:
    """TCP sockets of the kernel over open flows, by where they are: those of the system's namespace
    ("own"), and of the server behind a device ("backend").
    """
    return _fit_each([(held_flows(readings), _sockets(readings)) for readings in holds])


def _sockets(readings: Readings) -> dict[str, float]:
    found = {
        "own": readings.at(HOLD).level(metrics.SOCKSTAT_SOCKETS, protocol="TCP", state="inuse"),
        "backend": readings.at(HOLD).level(metrics.BACKEND_SOCKETS),
    }
    return {name: count for name, count in found.items() if count is not None}


def held_flows(readings: Readings) -> float:
    """Flows that were open while memory was read, by the generator's count."""
    held = readings.trial.traffic.held_flows
    assert held is not None, "a trial whose flows were not counted is in no figure"
    return held


def _fit_each(readings: Sequence[tuple[float, dict[str, float]]]) -> dict[str, Line]:
    points: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for flows, sizes in readings:
        for name, size in sizes.items():
            points[name].append((flows, size))
    fitted = {name: fit(where) for name, where in points.items()}
    return {name: line for name, line in fitted.items() if line is not None}
