"""Figures of CPU time per connection: of the server's side, and of the generator's."""

from collections.abc import Callable

from stackcost.analysis.cost import breakdown, core_time, cpu, http
from stackcost.analysis.cost.cpu import backend_cost
from stackcost.analysis.figures.figure import Figure, Values
from stackcost.analysis.figures.groups import KindsOf, LoadTrials
from stackcost.analysis.head import COST, COST_BY_KIND
from stackcost.contracts.metrics import CPU_CYCLES

OTHER_HOST = "the kernel of the generator's host is not read"
NO_IDLE_TASK = "this run, or this kernel, does not tell when the idle task was in an idle state"
SHARED = "clients also ran on these cores"
OF_PEER = "the peer's own time stamp counter: stackcost_get_cpu"


def _shared(loads: LoadTrials) -> str:
    return SHARED if any(readings.trial.traffic.cores_shared for readings in loads.trials) else ""


def _untimed(loads: LoadTrials) -> str:
    return loads.first_reason(cpu.why_none_per_connection)


def _of_server(cost: KindsOf) -> Callable[[LoadTrials], dict[str, Values]]:
    """The kinds of a cost on the server's cores."""
    return lambda loads: loads.by_kind(cost, _untimed(loads))


def _no_cost(loads: LoadTrials) -> str:
    return _shared(loads) or loads.first_reason(cpu.why_no_cost)


def _generator(loads: LoadTrials) -> dict[str, Values]:
    cost = http.client_cost if loads.test else cpu.generator_cost
    elsewhere = "" if loads.load_cpus else OTHER_HOST
    reason = _shared(loads) or _untimed(loads) or elsewhere or loads.first_reason(cpu.why_not_read)
    return loads.by_kind(lambda readings: cost(readings.on(loads.load_cpus)), reason)


def _generator_busy(loads: LoadTrials) -> Values:
    return loads.each(
        lambda readings: (
            http.busy_share(readings.on(loads.load_cpus))
            if loads.test
            else core_time.engine_busy_share(readings, "generator")
        ),
        "this generator does not report its busy cycles",
    )


SERVER_CPU = Figure[LoadTrials](
    name=COST_BY_KIND,
    unit="us",
    table="costs",
    definition="time of the server's side per completed connection, by kind",
    source="the kinds below",
    of="load",
    kinds={
        "user": (
            "time of the server's processes in user mode on its cores, per completed connection",
            "tracepoint sched:sched_switch, without softirq and interrupts; divided into user and "
            "system as the samples of their stacks in the window (an error of at most 9 points "
            "with 30, 3 with 300), with fewer than 30 as traced system calls in the warm-up, which "
            "books too much as user, else by utime and stime",
        ),
        "system": (
            "time of the server's processes in system calls on its cores, and of the kernel's "
            "threads there that poll its interface or run softirqs (napi, ksoftirqd; where "
            "connections were tracked kworker), per completed connection",
            "as server_cpu.user",
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
            "time of a polling peer's loop in iterations that did work, per completed connection",
            "the peer's own time stamp counter: stackcost_get_cpu; TRex's own account: "
            "get_utilization",
        ),
        "sending": (
            "the part of busy in calls that pass frames to the port's device; with a kernel "
            "interface they copy and deliver the frames, which a NIC does itself",
            OF_PEER,
        ),
        "copying": (
            "the part of busy in which payload is copied into packets for the device; of packet "
            "sockets and memif that is in sending",
            OF_PEER,
        ),
        "stack": (
            "the rest of busy: receiving, TCP and the peer's program",
            "busy less copying and sending",
        ),
    },
    compute=lambda loads: loads.by_kind(cpu.server_cost, _no_cost(loads)),
)
SERVER_CPU_TOTAL = Figure[LoadTrials](
    name=COST,
    unit="us",
    definition="all that a connection takes on the server's side: the kinds of server_cpu, and of "
    "a polling peer those of peer_kernel_cpu; without the generator's cost",
    source="server_cpu, peer_kernel_cpu",
    of="load",
    of_trials=True,
    judged=True,
    compute=lambda loads: loads.each(cpu.server_total, _no_cost(loads)),
)
WHOLE_COST = Figure[LoadTrials](
    name="whole_cpu_total",
    unit="us",
    definition="server_cpu_total over the whole sustain window, undisturbed or not",
    source=COST_BY_KIND,
    of="load",
    of_trials=True,
    compute=lambda loads: loads.each(cpu.uncorrected_total),
)
BACKEND_CPU = Figure[LoadTrials](
    name="backend_cpu",
    unit="us",
    table="costs",
    definition="time of the server behind a device per completed connection: its processes, and "
    "the threads that poll its interface, without the softirqs of cores that it shares. On the "
    "device's cores it is a part of server_cpu",
    source="tracepoint sched:sched_switch, divided as server_cpu.user; threads napi/*",
    of="load",
    compute=lambda loads: loads.by_kind(
        backend_cost
        if loads.context.summary.backend_on == "device"
        else lambda readings: backend_cost(readings.on(loads.load_cpus)),
        _untimed(loads),
    ),
)
PEER_KERNEL_CPU = Figure[LoadTrials](
    name="peer_kernel_cpu",
    unit="us",
    table="costs",
    definition="kernel time on a polling peer's cores per completed connection: softirq, and the "
    "threads that poll its interface. It is the wire's cost; server_cpu.busy may have a part of it "
    "as well",
    source="tracepoints irq:softirq_*, sched:sched_switch (threads napi/*)",
    of="load",
    compute=_of_server(cpu.kernel_cost_on_polling_cores),
)
IDLE_TASK = Figure[LoadTrials](
    name="idle_task",
    unit="us",
    table="costs",
    definition="time of the idle task on the server's cores per completed connection, outside of "
    "idle states, without softirq and interrupts; not in server_cpu_total, as a busy core has none",
    source="tracepoints power:cpu_idle, sched:sched_switch, irq:*, irq_vectors:*",
    of="load",
    kinds={
        "idle entry": (
            "from the switch to the idle task until it enters an idle state",
            "tracepoints sched:sched_switch, power:cpu_idle",
        ),
        "idle exit": (
            "from the first interrupt in an idle state, or the state's end, until the switch away "
            "or the next state; with the reschedule interrupt",
            "tracepoints irq:*, irq_vectors:*, power:cpu_idle, sched:sched_switch",
        ),
    },
    compute=lambda loads: loads.by_kind(
        cpu.idle_task_cost,
        _shared(loads) or _untimed(loads) or NO_IDLE_TASK,
    ),
)
SOFTIRQ = Figure[LoadTrials](
    name="softirq",
    unit="us",
    table="costs",
    definition="server_cpu.softirq by vector",
    source="tracepoints irq:softirq_entry and irq:softirq_exit",
    of="load",
    compute=_of_server(breakdown.softirq_cost),
)
THREADS = Figure[LoadTrials](
    name="threads",
    unit="us",
    table="costs",
    definition="time of the server's cores by thread per completed connection, without softirqs "
    "and interrupts; threads of other programs and other threads of the kernel are marked as in "
    "no total",
    source="tracepoint sched:sched_switch",
    of="load",
    compute=_of_server(breakdown.thread_cost),
)
HARDWARE = Figure[LoadTrials](
    name="hardware",
    unit="1",
    definition="cycles and instructions of the server's cores per completed connection, with a "
    "polling peer's empty polls",
    source="perf_event_open on each core",
    of="load",
    compute=lambda loads: loads.by_kind(
        breakdown.hardware_cost,
        _untimed(loads) or loads.first_reason(lambda readings: readings.why_unknown(CPU_CYCLES)),
    ),
)
GENERATOR_CPU = Figure[LoadTrials](
    name="generator_cpu",
    unit="us",
    table="costs",
    definition="the generator's busy time, all softirq on its cores, and the threads that pass "
    "the veth's frames to it, per completed connection; of HTTP clients their processes' time, "
    "and softirq. The parts overlap and are not added; the server's cost has none of them",
    source="stackcost_get_cpu of the generator; softirq.time; task.time of napi/* and of clients",
    of="load",
    compute=_generator,
)
GENERATOR_BUSY = Figure[LoadTrials](
    name="generator_busy",
    unit="1",
    definition="share of the generator's loop time in iterations that did work; of HTTP clients "
    "the share of their cores' time that was not idle",
    source="stackcost_get_cpu of the generator; cpu.exact_time",
    of="load",
    compute=_generator_busy,
)
