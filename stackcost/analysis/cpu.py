"""CPU time per connection, on the server's side and, apart from it, on the generator's.

What counts as whose time is said in `analysis.core_time`. Where the server's side was read often
enough, its cost is that of the slices of time in which nothing outside of the machine slowed its
cores (`analysis.undisturbed`).
"""

from collections.abc import Collection, Mapping

from stackcost.analysis.core_time import (
    Cost,
    engine_busy_seconds,
    has_peer,
    kernel_seconds,
    poll_seconds,
    sum_of,
)
from stackcost.analysis.flows import completed_in
from stackcost.analysis.readings import Readings
from stackcost.analysis.undisturbed import undisturbed

MICROSECONDS = 1e6


def server_cost(seen: Readings, cpus: Collection[int], phase: str = "sustain") -> Cost:
    """Busy microseconds of the server's side per completed connection, by kind.

    `cpus`: the server's cores. None for a kind that was not read.
    """
    return seen.once(
        ("server cost", phase, *cpus),
        lambda: at_full_speed(seen, cpus, phase, uncorrected_cost(seen, cpus, phase)),
    )


def uncorrected_cost(seen: Readings, cpus: Collection[int], phase: str = "sustain") -> Cost:
    """The same, with what slowed the cores in it."""
    return seen.once(("whole cost", phase, *cpus), lambda: _cost_of_window(seen, cpus, phase))


def _cost_of_window(seen: Readings, cpus: Collection[int], phase: str) -> Cost:
    if has_peer(seen):
        busy = engine_busy_seconds(seen, "peer", phase)
        sending = seen.growth("engine.sending_time", phase, engine="peer")
        parts: Cost = {"busy": busy}
        if busy is not None and sending is not None:
            parts = {"stack": busy - sending, "sending": sending}
    else:
        parts = kernel_seconds(seen, cpus, phase)
    return per_connection(seen, parts, phase)


def uncorrected_total(
    seen: Readings, cpus: Collection[int], phase: str = "sustain"
) -> float | None:
    """The same as `server_total`, with what slowed the cores in it."""
    return sum_of(uncorrected_cost(seen, cpus, phase).values())


def server_total(seen: Readings, cpus: Collection[int], phase: str = "sustain") -> float | None:
    """Sum of `server_cost` over its kinds; None when one of them is unknown, as the sum then is."""
    return sum_of(server_cost(seen, cpus, phase).values())


def why_no_cost(seen: Readings, cpus: Collection[int], phase: str = "sustain") -> str:
    """Why the server's cost is not known; empty when it is.

    A cost without one of its parts is none: the part that lacks may be the largest.
    """
    lacking = [kind for kind, spent in server_cost(seen, cpus, phase).items() if spent is None]
    if not lacking:
        return ""
    metrics = ("engine.busy_time",) if has_peer(seen) else ("cpu.exact_time", "task.time")
    told = next((why for metric in metrics if (why := seen.why_unknown(metric))), "")
    return told or f"{' and '.join(lacking)} time was not read"


def kernel_cost_on_polling_cores(
    seen: Readings, cpus: Collection[int], phase: str = "sustain"
) -> Cost:
    """Kernel time per completed connection on the cores of a polling peer; empty for others.

    It is the wire's: a veth copies frames in the kernel where a NIC would by DMA. An unknown part
    of it interrupts busy loop iterations and is in "busy" already, so it is shown and not added.
    """
    if not has_peer(seen):
        return {}
    softirq = kernel_seconds(seen, cpus, phase)["softirq"]
    wire = {"softirq": softirq, "receive polls": poll_seconds(seen, cpus, phase)}
    return per_connection(seen, wire, phase)


def generator_cost(seen: Readings, cpus: Collection[int], phase: str = "sustain") -> Cost:
    """Microseconds per completed connection that the generator itself took; never the server's.

    "busy": its loop iterations that did work; "softirq": all softirq on its cores; "receive polls":
    the kernel threads that hand a veth's frames over to it. Parts of these two interrupt busy
    iterations, so they must not be added to them.
    """
    parts = {
        "busy": engine_busy_seconds(seen, "generator", phase),
        "softirq": kernel_seconds(seen, cpus, phase)["softirq"],
        "receive polls": poll_seconds(seen, cpus, phase),
    }
    return per_connection(seen, parts, phase)


def per_connection(seen: Readings, seconds: Mapping[str, float | None], phase: str) -> Cost:
    """Microseconds per completed connection, from seconds of a phase; None where unknown."""
    connections = completed_in(seen, phase)
    if not connections:
        return dict.fromkeys(seconds)
    return {
        kind: None if value is None else value / connections * MICROSECONDS
        for kind, value in seconds.items()
    }


def at_full_speed(
    seen: Readings, cpus: Collection[int], phase: str, cost: Cost, kind: str = ""
) -> Cost:
    """A cost of the server's cores in a phase, by kind, as it was while nothing slowed them.

    `kind`: of which all of its parts are. As it is, where too little of that time is known.
    """
    found = undisturbed(seen, cpus) if phase == "sustain" else None
    if not found or not found.enough:
        return cost
    return {
        name: None if spent is None else spent * found.scale.get(kind or name, 1.0)
        for name, spent in cost.items()
    }
