"""CPU time per connection of the server's side and, separately, of the generator.

`core_time` defines which time belongs to which side. If the server's side was read often
enough, its cost is that of the slices of time in which nothing outside the machine slowed its cores
(`undisturbed`).
"""

from collections import defaultdict
from collections.abc import Mapping

from stackcost.analysis.cost import flows
from stackcost.analysis.cost.core_time import (
    BUSY_PARTS,
    POLL_THREAD,
    Cost,
    engine_busy_seconds,
    has_peer,
    idle_task_seconds,
    kernel_seconds,
    kernel_thread_seconds,
)
from stackcost.analysis.cost.guest import why_no_time
from stackcost.analysis.cost.threads import seconds_of_threads
from stackcost.analysis.cost.undisturbed import undisturbed
from stackcost.analysis.cost.user_share import divided
from stackcost.analysis.readings import Readings, kept, sum_of
from stackcost.contracts.metrics import (
    BACKEND_CPU_TIME,
    CPU_EXACT_TIME,
    ENGINE_BUSY_TIME,
    POLL_ROLE,
    TASK_TIME,
)

KINDS = ("user", "system", "receive polls")


def backend_cost(readings: Readings) -> Cost:
    """Microseconds of the server behind a device per completed connection, by kind.

    On the device's cores it is a part of the cost of device and server together, which is that of
    the cores. On the generator's cores it is all that is known of the server. Softirqs cannot be
    divided between those who share a core, so they are in no figure of it.

    The readings are on the cores on which it runs. "user" and "system" are its processes',
    "receive polls" the kernel's threads for its interface. Empty if there is no such server.
    """
    roles = {s.labels["process"]: s.labels["role"] for s in readings.samples(BACKEND_CPU_TIME)}
    if not roles:
        return {}
    threads = {process for process, role in roles.items() if role.startswith(POLL_ROLE)}
    spent: dict[str, float] = defaultdict(float)
    for thread, seconds in seconds_of_threads(readings).items():
        spent[thread.process] += seconds
    own = sum(seconds for process, seconds in spent.items() if process in roles.keys() - threads)
    if not spent:
        return dict.fromkeys(KINDS)
    user, system = divided(readings, own, roles.keys() - threads)
    polls = sum(spent[process] for process in threads) if threads else None
    return us_per_connection(readings, dict(zip(KINDS, (user, system, polls), strict=True)))


MICROSECONDS = 1e6


@kept
def server_cost(readings: Readings) -> Cost:
    """Busy microseconds of the server's side per completed connection, by kind; None for a kind
    that was not read.
    """
    return at_full_speed(readings, uncorrected_cost(readings))


@kept
def uncorrected_cost(readings: Readings) -> Cost:
    """`server_cost` of the whole window, without correction for slowed cores."""
    if has_peer(readings):
        busy = engine_busy_seconds(readings, "peer")
        told = {part: readings.growth(metric, engine="peer") for part, metric in BUSY_PARTS.items()}
        known = {part: spent for part, spent in told.items() if spent is not None}
        parts: Cost = {"busy": busy}
        if busy is not None and known:  # TRex tells none
            parts = {"stack": busy - sum(known.values()), **known}
    else:
        parts = kernel_seconds(readings)
    return us_per_connection(readings, parts)


def uncorrected_total(readings: Readings) -> float | None:
    """`server_total` for the whole window, without correction for slowed cores."""
    return sum_of([*uncorrected_cost(readings).values(), *_kernel_cost(readings).values()])


def server_total(readings: Readings) -> float | None:
    """All that a connection takes on the server's side, microseconds: `server_cost`, and of a
    polling peer the kernel's work on its cores; None if a part is unknown.
    """
    kernel = kernel_cost_on_polling_cores(readings)
    return sum_of([*server_cost(readings).values(), *kernel.values()])


def why_no_cost(readings: Readings) -> str:
    """Why the server's cost is unknown; empty if it is known.

    A cost with a missing part is unknown, because the missing part may be the largest.
    """
    if none := why_none_per_connection(readings):
        return none
    parts = server_cost(readings) | kernel_cost_on_polling_cores(readings)
    lacking = [kind for kind, spent in parts.items() if spent is None]
    if not lacking:
        return ""
    told = has_peer(readings) and readings.why_unknown(ENGINE_BUSY_TIME)
    return told or why_not_read(readings) or f"{' and '.join(lacking)} time was not read"


def why_not_read(readings: Readings) -> str:
    """The reason that was given for not knowing cores' or threads' time; empty when none was."""
    return readings.why_unknown(CPU_EXACT_TIME) or readings.why_unknown(TASK_TIME)


def kernel_cost_on_polling_cores(readings: Readings) -> Cost:
    """Kernel time per completed connection on the cores of a polling peer; empty for others.

    It is the cost of the link: a veth copies frames in the kernel, a NIC uses DMA. How much of it
    interrupts busy iterations of the loop, and so is in "busy" as well, is not known.
    """
    return at_full_speed(readings, _kernel_cost(readings), "softirq")


def _kernel_cost(readings: Readings) -> Cost:
    """`kernel_cost_on_polling_cores` of the whole window."""
    if not has_peer(readings):
        return {}
    softirq = kernel_seconds(readings)["softirq"]
    wire = {"softirq": softirq, "receive polls": kernel_thread_seconds(readings)}
    return us_per_connection(readings, wire)


def idle_task_cost(readings: Readings) -> Cost:
    """Microseconds of the idle task outside of idle states, on cores of a server on the kernel.

    Empty for a polling peer: its cores are never idle, and its empty polls are in no cost either.
    None of a trial that does not tell it apart, and on cores that clients share.
    """
    if has_peer(readings):
        return {}
    cost = us_per_connection(readings, idle_task_seconds(readings))
    return at_full_speed(readings, cost)


def generator_cost(readings: Readings) -> Cost:
    """Microseconds per completed connection of the generator itself, not of the server.

    "busy": its loop iterations that did work; "softirq": all softirq on its cores; "receive polls":
    the kernel threads that hand a veth's frames over to it. Parts of these two interrupt busy
    iterations, so they must not be added to them. The readings are on its cores; on none if it is
    on another host than the server, as its kernel is not read there.
    """
    parts = {
        "busy": engine_busy_seconds(readings, "generator"),
        "softirq": kernel_seconds(readings)["softirq"],
        "receive polls": kernel_thread_seconds(readings, (POLL_THREAD,)),
    }
    return us_per_connection(readings, parts)


def why_none_per_connection(readings: Readings) -> str:
    """Why no time of a phase can be divided by its connections; empty if it can."""
    return why_no_time(readings) or flows.why_no_connection(readings)


def us_per_connection(readings: Readings, seconds: Mapping[str, float | None]) -> Cost:
    """Microseconds per completed connection, from seconds of a phase; None where unknown."""
    if why_no_time(readings):
        return dict.fromkeys(seconds)
    each = {kind: flows.per_connection(readings, spent) for kind, spent in seconds.items()}
    return {kind: None if cost is None else cost * MICROSECONDS for kind, cost in each.items()}


def at_full_speed(readings: Readings, cost: Cost, kind: str = "") -> Cost:
    """A cost of the server's cores in a phase, by kind, during undisturbed slices of time.

    `kind`: the kind of all parts. The cost is not changed if there was too little such time.
    """
    found = undisturbed(readings) if readings.phase == "sustain" else None
    if not found or not found.enough:
        return cost
    return {
        name: None if spent is None else spent * found.scale.get(kind or name, 1.0)
        for name, spent in cost.items()
    }
