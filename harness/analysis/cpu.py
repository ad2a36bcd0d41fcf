"""CPU time per connection, on the server's side and, apart from it, on the generator's.

For a server on the kernel stack: the exact time of its own processes, divided into user and system
by the ratio of the kernel's account of these processes; the kernel threads that poll its interface
on its cores, as system time; and all softirq and interrupt time of its cores, exactly. For a peer
that polls: the time of loop iterations that did work; iterations that found nothing to do are idle
and left out.
"""

from collections.abc import Collection, Mapping

from harness.analysis.flows import completed_in, shares_cores
from harness.analysis.readings import Readings
from harness.collect.cpu_time import CpuSeconds, cpu_seconds, seconds_by_process
from harness.model import Sample

POLL_THREAD = "napi/"  # what the kernel names threads that poll an interface
POLL_ROLE = "receive-poll"  # what a server that lists them among its processes calls them
MICROSECONDS = 1e6
Cost = dict[str, float | None]


def server_cost(seen: Readings, cpus: Collection[int], phase: str = "sustain") -> Cost:
    """Busy microseconds of the server's side per completed connection, by kind.

    `cpus`: the server's cores. None for a kind that was not read.
    """
    busy = engine_busy_seconds(seen, "peer", phase)
    if busy is not None:
        sending = seen.growth("engine.sending_time", phase, engine="peer")
        parts = {"busy": busy}
        if sending is not None:
            parts = {"stack": busy - sending, "sending": sending}
        return per_connection(seen, parts, phase)
    return per_connection(seen, kernel_seconds(seen, cpus, phase), phase)


def server_total(seen: Readings, cpus: Collection[int], phase: str = "sustain") -> float | None:
    """Sum of `server_cost` over its kinds; None when one of them is unknown, as the sum then is."""
    return _sum(server_cost(seen, cpus, phase).values())


def beside_polling(seen: Readings, cpus: Collection[int], phase: str = "sustain") -> Cost:
    """Kernel time per completed connection on the cores of a polling peer; empty for others.

    It is the wire's: a veth copies frames in the kernel where a NIC would by DMA. An unknown part
    of it interrupts busy loop iterations and is in "busy" already, so it is shown and not added.
    """
    if engine_busy_seconds(seen, "peer", phase) is None:
        return {}
    softirq = kernel_seconds(seen, cpus, phase)["softirq"]
    wire = {"softirq": softirq, "receive polls": _poll_seconds(seen, cpus, phase)}
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
        "receive polls": _poll_seconds(seen, cpus, phase),
    }
    return per_connection(seen, parts, phase)


def kernel_seconds(seen: Readings, cpus: Collection[int], phase: str = "sustain") -> Cost:
    """Seconds that a server on the kernel's stack took on its cores, None for an unknown kind.

    What other programs took there is not the server's: `foreign_share`. On cores that clients
    share, what the kernel does for either side cannot be told apart: "system" is of the server's
    processes alone, and interrupts of both kinds are unknown.
    """
    shared = shares_cores(seen.trial)
    cores = [core_seconds(seen, cpu, phase) for cpu in cpus]
    task = _process_seconds(seen, cpus, phase)
    share = _user_share(seen, cpus, phase)
    return {
        "user": None if task is None or share is None else task * share,
        "system": None
        if task is None or share is None
        else task * (1 - share) + (0.0 if shared else _poll_seconds(seen, cpus, phase)),
        "irq": None if shared else _sum([core.irq if core else None for core in cores]),
        "softirq": None if shared else _sum([core.softirq if core else None for core in cores]),
    }


def _user_share(seen: Readings, cpus: Collection[int], phase: str) -> float | None:
    """Share of user mode in the time of the server's processes.

    Exact where tasks were split at system calls, else by the kernel's account of these processes.
    """
    user, system = (_process_seconds(seen, cpus, phase, kind=kind) for kind in ("user", "system"))
    if user is None and system is None:
        user, system = (
            seen.growth("process.cpu_time", phase, kind=kind) for kind in ("user", "system")
        )
    if user is None or system is None:
        return None
    return user / (user + system) if user + system else 0.0


def foreign_share(seen: Readings, cpus: Collection[int], phase: str = "sustain") -> float | None:
    """Share (0 to 1) of the server's cores that programs other than the server took.

    Not of others are, on shared cores, clients, what stands behind the server, and the harness.
    """
    if _process_seconds(seen, cpus, phase) is None:
        return None
    window = seen.trial.phases[phase]
    known = {sample.labels["process"] for sample in seen.samples("process.cpu_time")}
    known |= set(map(str, seen.trial.load.get("of_the_bed", ())))
    samples = seen.samples("task.time")
    foreign = sum(
        spent
        for cpu in cpus
        for (process, command), spent in seconds_by_process(samples, window, cpu).items()
        if str(process) not in known and not command.startswith(POLL_THREAD)
    )
    return foreign / (window.length * len(cpus))


def own_series(seen: Readings, cpus: Collection[int]) -> list[list[Sample]]:
    """The counters that make up `kernel_seconds` on some cores; none on cores that are shared."""
    if shares_cores(seen.trial):
        return []
    own = _own_processes(seen)
    of_cores = [
        series
        for cpu in cpus
        for kind in ("irq", "softirq")
        for series in seen.series("cpu.exact_time", cpu=str(cpu), kind=kind)
    ]
    of_tasks = [
        series
        for cpu in cpus
        for series in seen.series("task.time", cpu=str(cpu))
        if series[0].labels["process"] in own or series[0].labels["command"].startswith(POLL_THREAD)
    ]
    return of_cores + of_tasks if of_cores and of_tasks else []


def _process_seconds(
    seen: Readings, cpus: Collection[int], phase: str, **wanted: str
) -> float | None:
    """Time of the server's processes themselves, without softirqs and interrupts.

    A device that has no program, but threads of the kernel that poll its links, takes none.
    """
    own = _own_processes(seen)
    by_process = [
        seen.by_label("task.time", phase, "process", cpu=str(cpu), **wanted) for cpu in cpus
    ]
    if not seen.samples("process.cpu_time") or not any(by_process):
        return None
    return sum(spent for each in by_process for name, spent in each.items() if name in own)


def _own_processes(seen: Readings) -> set[str]:
    """The server's processes, without threads of the kernel that count as such."""
    roles = {s.labels["process"]: s.labels["role"] for s in seen.samples("process.cpu_time")}
    return {process for process, role in roles.items() if not role.startswith(POLL_ROLE)}


def _poll_seconds(seen: Readings, cpus: Collection[int], phase: str) -> float:
    """Time of the kernel threads that do receive work on some cores (threaded NAPI)."""
    by_command = [seen.by_label("task.time", phase, "command", cpu=str(cpu)) for cpu in cpus]
    return sum(
        spent for each in by_command for name, spent in each.items() if name.startswith(POLL_THREAD)
    )


def core_seconds(seen: Readings, cpu: int, phase: str) -> CpuSeconds | None:
    """Seconds of one core in a phase by kind; None when the trial did not reach the phase."""
    window = seen.trial.phases.get(phase)
    if window is None:
        return None
    return cpu_seconds(seen.samples("cpu.exact_time", "cpu.time"), window, cpu)


def receive_share(seen: Readings, cpus: Collection[int], phase: str = "sustain") -> float | None:
    """Share (0 to 1) of the machine's receive work that ran on some cores.

    Receive work: NET_RX softirq anywhere, and the threads that poll an interface on these cores,
    where threaded NAPI without packet steering does all of it.
    """
    by_cpu = seen.by_label("softirq.time", phase, "cpu", vector="NET_RX")
    polls = _poll_seconds(seen, cpus, phase)
    everywhere = sum(by_cpu.values()) + polls
    if not by_cpu or not everywhere:
        return None
    return (sum(by_cpu.get(str(cpu), 0.0) for cpu in cpus) + polls) / everywhere


def engine_busy_seconds(seen: Readings, engine: str, phase: str = "sustain") -> float | None:
    """Seconds in which a polling engine ("generator" or "peer") did work, over all its cores."""
    return seen.growth("engine.busy_time", phase, engine=engine)


def engine_busy_share(seen: Readings, engine: str, phase: str = "sustain") -> float | None:
    """The same as a share (0 to 1) of all its time."""
    busy = engine_busy_seconds(seen, engine, phase)
    whole = seen.growth("engine.time", phase, engine=engine)
    return busy / whole if busy is not None and whole else None


def steal_share(seen: Readings, phase: str = "sustain") -> float | None:
    """Share (0 to 1) of all cores' time that the hypervisor gave to others."""
    by_kind = seen.by_label("cpu.time", phase, "kind")
    whole = sum(by_kind.values())
    return by_kind.get("steal", 0.0) / whole if whole else None


def per_connection(seen: Readings, seconds: Mapping[str, float | None], phase: str) -> Cost:
    """Microseconds per completed connection, from seconds of a phase; None where unknown."""
    connections = completed_in(seen, phase)
    if not connections:
        return dict.fromkeys(seconds)
    return {
        kind: None if value is None else value / connections * MICROSECONDS
        for kind, value in seconds.items()
    }


def _sum(parts: Collection[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if known and len(known) == len(parts) else None
