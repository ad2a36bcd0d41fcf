"""Figures of CPU time per connection: of the server's side, and of the generator's."""

from collections.abc import Callable

from stackcost.analysis import breakdown, core_time, cpu, http
from stackcost.analysis.cpu import backend_cost
from stackcost.analysis.figures.figure import Figure, Values
from stackcost.analysis.figures.groups import KindsOf, LoadTrials

OTHER_HOST = "the kernel of the generator's host is not read"
NO_IDLE_TASK = "this run, or this kernel, does not tell when the idle task was in an idle state"
SHARED = "clients also ran on these cores"


def _shared(loads: LoadTrials) -> str:
    return SHARED if any(seen.trial.traffic.cores_shared for seen in loads.trials) else ""


def _untimed(loads: LoadTrials) -> str:
    return loads.first_reason(cpu.why_none_per_connection)


def _of_server(cost: KindsOf) -> Callable[[LoadTrials], dict[str, Values]]:
    """The kinds of a cost on the server's cores."""
    return lambda loads: loads.by_kind(cost, loads.server_cpus, _untimed(loads))


def _no_cost(loads: LoadTrials) -> str:
    return _shared(loads) or loads.first_reason(
        lambda seen: cpu.why_no_cost(seen, loads.server_cpus)
    )


def _generator(loads: LoadTrials) -> dict[str, Values]:
    cost = http.client_cost if loads.test else cpu.generator_cost
    elsewhere = "" if loads.load_cpus else OTHER_HOST
    reason = _shared(loads) or _untimed(loads) or elsewhere
    return loads.by_kind(cost, loads.load_cpus, reason)


def _generator_busy(loads: LoadTrials) -> Values:
    return loads.each(
        lambda seen: (
            http.busy_share(seen, loads.load_cpus)
            if loads.test
            else core_time.engine_busy_share(seen, "generator")
        ),
        "this generator does not report its busy cycles",
    )


SERVER_CPU = Figure[LoadTrials](
    name="server_cpu",
    unit="us",
    table="costs",
    definition="time of the server's side per completed connection, by kind",
    source="the kinds below",
    of="load",
    kinds={
        "user": (
            "time of the server's processes in user mode on its cores, per completed connection",
            "exact time of the processes by tracepoint sched:sched_switch, without softirq and "
            "interrupts; divided into user and system as the samples of their stacks in the window "
            "are (an error of at most 9 points with 30, 3 with 300); with fewer than 30 as traced "
            "system calls in the warm-up, which books too much as user, else by utime and stime",
        ),
        "system": (
            "time of the server's processes in system calls on its cores, and of the kernel's "
            "threads there that poll its interface or run softirqs (napi, ksoftirqd; where "
            "connections were tracked, also kworker), without softirq and interrupts, per "
            "completed connection",
            "as user",
        ),
        "irq": (
            "time of the server's cores in hardware interrupts, per completed connection",
            "tracepoints irq:irq_handler_* and irq_vectors:*",
        ),
        "softirq": (
            "time of the server's cores in softirq, all vectors, per completed connection",
            "tracepoints irq:softirq_entry and irq:softirq_exit",
        ),
        "busy": (
            "time that a polling peer's loop spent in iterations that did work, per completed "
            "connection; empty iterations are idle time and not included",
            "the peer's own time stamp counter: stackcost_get_cpu; for TRex its own account of its "
            "data cores: get_utilization",
        ),
        "sending": (
            "the part of a polling peer's busy time in the calls that pass its frames to the "
            "port's device; with a kernel interface these calls copy and deliver the frames, which "
            "a NIC does itself",
            "the peer's own time stamp counter: stackcost_get_cpu",
        ),
        "copying": (
            "the part of a polling peer's busy time in which it makes packets for the port's "
            "device of its frames: payload is copied into their buffers; with packet sockets and "
            "memif that is in the calls of sending",
            "the peer's own time stamp counter: stackcost_get_cpu",
        ),
        "stack": (
            "the rest of a polling peer's busy time: receiving, TCP and its program; of runs "
            "before it was told apart with copying",
            "server_cpu.busy less server_cpu.copying and server_cpu.sending",
        ),
    },
    compute=lambda loads: loads.by_kind(cpu.server_cost, loads.server_cpus, _no_cost(loads)),
)
SERVER_CPU_TOTAL = Figure[LoadTrials](
    name="server_cpu_total",
    unit="us",
    definition="sum over the kinds of the server's side, without the generator's cost",
    source="the kinds above",
    of="load",
    judged=True,
    compute=lambda loads: loads.each(
        lambda seen: cpu.server_total(seen, loads.server_cpus), _no_cost(loads)
    ),
)
BACKEND_CPU = Figure[LoadTrials](
    name="backend_cpu",
    unit="us",
    table="costs",
    definition="time of the server behind a device per completed connection: its processes in user "
    "and system mode, and the threads that poll its interface; softirqs of the cores that it "
    "shares are not included. On the device's cores it is a part of server_cpu, elsewhere it is "
    "not",
    source="tracepoint sched:sched_switch, divided as server_cpu.user; threads napi/*",
    of="load",
    compute=lambda loads: loads.by_kind(
        backend_cost,
        loads.server_cpus if loads.context.backend_on == "device" else loads.load_cpus,
        _untimed(loads),
    ),
)
PEER_KERNEL_CPU = Figure[LoadTrials](
    name="peer_kernel_cpu",
    unit="us",
    table="costs",
    definition="kernel time on a polling peer's cores per completed connection: softirq, and the "
    "threads that poll its interface; the wire's cost, as a veth copies frames in the kernel where "
    "a NIC would by DMA; part of it interrupts busy iterations and is in server_cpu.busy already, "
    "so it is not added",
    source="tracepoints irq:softirq_*, sched:sched_switch (threads napi/*)",
    of="load",
    compute=_of_server(cpu.kernel_cost_on_polling_cores),
)
IDLE_TASK = Figure[LoadTrials](
    name="idle_task",
    unit="us",
    table="costs",
    definition="time of the idle task on the server's cores per completed connection, outside of "
    "idle states and without softirq and interrupts, whatever woke the core; not in "
    "server_cpu_total: a busy core has none, /proc/stat has it as idle, and a polling peer's "
    "empty polls are in no cost either",
    source="tracepoints power:cpu_idle, sched:sched_switch, irq:*, irq_vectors:*",
    of="load",
    kinds={
        "idle entry": (
            "from the switch to the idle task until it enters an idle state",
            "tracepoints sched:sched_switch, power:cpu_idle",
        ),
        "idle exit": (
            "from the first interrupt in an idle state, or from the state's end if that is first, "
            "until the switch away from the idle task or until it enters the next state; without "
            "softirq and interrupts inside, but with the reschedule interrupt",
            "tracepoints irq:*, irq_vectors:*, power:cpu_idle, sched:sched_switch",
        ),
    },
    compute=lambda loads: loads.by_kind(
        cpu.idle_task_cost,
        loads.server_cpus,
        _shared(loads) or _untimed(loads) or NO_IDLE_TASK,
    ),
)
SOFTIRQ = Figure[LoadTrials](
    name="softirq",
    unit="us",
    table="costs",
    definition="time of the server's cores in softirq by vector, per completed connection: the "
    "parts of server_cpu.softirq",
    source="tracepoints irq:softirq_entry and irq:softirq_exit",
    of="load",
    compute=_of_server(breakdown.softirq_cost),
)
THREADS = Figure[LoadTrials](
    name="threads",
    unit="us",
    table="costs",
    definition="time of the server's cores by thread, without softirqs and interrupts that "
    "interrupt it, per completed connection; of other programs and of the kernel's other threads "
    "marked as in no total, of a polling peer not, as most of its thread's time is polls in vain",
    source="tracepoint sched:sched_switch",
    of="load",
    compute=_of_server(breakdown.thread_cost),
)
HARDWARE = Figure[LoadTrials](
    name="hardware",
    unit="1",
    definition="cycles and instructions of the server's cores, per completed connection; for a "
    "polling peer empty polls are included",
    source="perf_event_open on each core",
    of="load",
    compute=lambda loads: loads.by_kind(
        breakdown.hardware_cost,
        loads.server_cpus,
        _untimed(loads) or loads.first_reason(lambda seen: seen.why_unknown("cpu.cycles")),
    ),
)
GENERATOR_CPU = Figure[LoadTrials](
    name="generator_cpu",
    unit="us",
    table="costs",
    definition="the generator's own busy loop time, all softirq on its cores, and the threads that "
    "pass the veth's frames to it, per completed connection; of HTTP clients their processes' time "
    "in user and system mode, and softirq; never part of the server's cost; these parts overlap "
    "and are not added",
    source="stackcost_get_cpu of the generator; softirq.time; task.time of napi/* and of clients",
    of="load",
    compute=_generator,
)
GENERATOR_BUSY = Figure[LoadTrials](
    name="generator_busy",
    unit="1",
    definition="share of the generator's loop time spent in iterations that did work; of HTTP "
    "clients the share of their cores' time that was not idle",
    source="stackcost_get_cpu of the generator; cpu.exact_time",
    of="load",
    compute=_generator_busy,
)
