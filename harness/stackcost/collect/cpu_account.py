"""Exact CPU time: what every nanosecond of every CPU went to, booked by the kernel's tracepoints.

/proc/stat on kernels of CONFIG_TICK_CPU_ACCOUNTING asks at each tick (4 ms at 250 Hz) what is
running; softirqs last microseconds, so its softirq column is a guess. Here a BPF program books
every interval between two of: softirq, interrupt, task switch, idle state. Sums close to wall time
by construction, and readings are exact at the edges of a window, because reading makes each CPU
book up to that moment.

Why libbpf and not bpftrace: bpftrace 0.17 needs tracefs mounted, prints from a process of its own
that can die, knows a running softirq or task only after it ended, and slowed wrk -> nginx by
14.5 % where this took 1.3 to 3.3 %.

How finely time is booked is chosen by `Detail`, as each booking takes time itself. Tasks are split
at system calls in the warm-up of a trial alone, and `cost.user_share` divides their exact time of
the sustain window as that where it has too few samples of stacks. Page faults and other exceptions
count as user time.

Threaded NAPI runs receive work in kernel threads: then it is task time, under "napi/...". On
PREEMPT_RT softirqs can be preempted, which this account does not follow.
"""

import ctypes
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import partial
from pathlib import Path

from stackcost.collect.bpf import BpfObject, Entries
from stackcost.contracts.collector import Collector, Phase
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.metrics import (
    CPU_EXACT_TIME,
    CPU_TRACED_TIME,
    IDLE_TASK,
    IRQ_COUNT,
    IRQ_TIME,
    SOFTIRQ_TIME,
    TASK_TIME,
    TASK_TRACED_TIME,
)
from stackcost.contracts.sample import DeferredSamples, Kind, Metric, Sample
from stackcost.host.cores import online_cpus

# Order of enum in include/linux/interrupt.h.
SOFTIRQS = (
    "HI",
    "TIMER",
    "NET_TX",
    "NET_RX",
    "BLOCK",
    "IRQ_POLL",
    "TASKLET",
    "SCHED",
    "HRTIMER",
    "RCU",
)
# Order in cpu_account.bpf.c. All devices together, then x86's own vectors.
INTERRUPTS = (
    "device",
    "local_timer",
    "call_function",
    "call_function_single",
    "irq_work",
)
IDLE_WITHOUT_STATE_NS = 100_000_000  # longer: this kernel does not trace idle states
ENTERING = 1  # of `in_idle` of cpu_account.bpf.h
MAX_TASKS = 16384
RECENT = 8
NANOSECOND = 1e-9

SOFTIRQ_COUNT = Metric("softirq.count", "1", Kind.COUNTER, "tracepoint irq:softirq_entry")
BY_VECTOR = (SOFTIRQ_TIME, SOFTIRQ_COUNT, IRQ_TIME, IRQ_COUNT)
OF_KINDS = (CPU_EXACT_TIME, *BY_VECTOR)
OF_MODES = (CPU_TRACED_TIME, TASK_TRACED_TIME)
SWITCHES = Metric("task.switches", "1", Kind.COUNTER, TASK_TIME.source)


class Detail(Enum):
    """How finely time is booked; the value is what the program is compiled with.

    TASKS: at task switches alone, so that a task's time holds the interrupts and softirqs that came
    on top of it, and a core's kinds are unknown: half of what SOFTIRQS adds to a busy core. For
    trials that ask only who ran. SOFTIRQS: at interrupts and softirqs, too, and while a session
    divides, at system calls. SYSTEM_CALLS: at system calls for the whole trial, which tells user
    from system time and takes another 10 %.
    """

    TASKS = "TASKS_ONLY"
    SOFTIRQS = ""
    SYSTEM_CALLS = "TRACE_SYSCALLS"


TOO_MANY = f"more than {MAX_TASKS:,} threads have run, and the time of some is not known"
MODES = ("user", "system")
Labels = tuple[tuple[str, str], ...]
TracedTime = Counter[Labels]  # nanoseconds

NOT_BOOKED = (
    "interrupts and softirqs are not measured in a search, because that would lower the ceiling"
)


class TaskKey(ctypes.Structure):
    """struct TaskKey of cpu_account.bpf.c."""

    _fields_ = [("cpu", ctypes.c_uint32), ("thread", ctypes.c_uint32)]


class TaskTime(ctypes.Structure):
    """struct Task of cpu_account.bpf.c."""

    _fields_ = [
        ("user", ctypes.c_uint64),
        ("system", ctypes.c_uint64),
        ("process", ctypes.c_uint32),
        ("command", ctypes.c_char * 16),
    ]


class Slot(ctypes.Structure):
    """One of struct Recent of cpu_account.bpf.c; a reading finds its time in the table of tasks."""

    _fields_ = [("task", TaskTime), ("thread", ctypes.c_uint32)]


class Account(ctypes.Structure):
    """struct Account of cpu_account.bpf.c."""

    _fields_ = [
        ("since", ctypes.c_uint64),
        ("until", ctypes.c_uint64),
        ("idle", ctypes.c_uint64),
        ("idle_entry", ctypes.c_uint64),
        ("idle_exit", ctypes.c_uint64),
        ("idle_states", ctypes.c_uint64),
        ("user", ctypes.c_uint64),
        ("system", ctypes.c_uint64),
        ("softirq", ctypes.c_uint64 * len(SOFTIRQS)),
        ("softirq_count", ctypes.c_uint64 * len(SOFTIRQS)),
        ("interrupt", ctypes.c_uint64 * len(INTERRUPTS)),
        ("interrupt_count", ctypes.c_uint64 * len(INTERRUPTS)),
        ("settled", ctypes.c_uint64 * 2),
        ("switches", ctypes.c_uint64),
        ("state", ctypes.c_uint32 * 5),
        ("recent", Slot * RECENT),
    ]


Accounts = Mapping[int, Account]  # by CPU


class CpuAccount(Collector):
    """Reads the account of every CPU. A second one traces system calls in the warm-up only."""

    name = "cpu account"
    often = True
    metrics = (*OF_KINDS, TASK_TIME, SWITCHES, *OF_MODES)

    def __init__(self, detail: Detail = Detail.SOFTIRQS):
        self._detail = detail
        self._programs: BpfObject | None = None
        self._tracing: BpfObject | None = None
        self._cannot_trace = ""
        self._before: list[TracedTime] = []

    def start(self) -> None:
        """Compile, load and attach; counting starts at zero here."""
        source = Path(__file__).with_name("cpu_account.bpf.c")
        self._programs = BpfObject(source, [self._detail.value] if self._detail.value else [])
        self._programs.attach()
        if self._detail is not Detail.SOFTIRQS:
            return
        try:
            self._tracing = BpfObject(source, [Detail.SYSTEM_CALLS.value])
        except StackcostError as error:  # kernels before 5.15: all else is known there
            self._cannot_trace = str(error)

    @property
    def divides_calls(self) -> bool:
        """Whether tasks' time is divided at system calls, outside of the warm-up as well."""
        return self._detail is Detail.SYSTEM_CALLS

    def map(self, name: str) -> int:
        """The descriptor of a map of the running program, for programs that read it."""
        return self._running().map(name)

    def _running(self) -> BpfObject:
        if self._programs is None:
            raise StackcostError("the BPF program is not running")
        return self._programs

    def in_phase(self, phase: Phase, on: bool) -> list[Sample]:
        """Seconds in user and in system mode, by CPU and by process, of a warm-up."""
        if phase != "warm-up":
            return []
        if self._tracing and not self._cannot_trace:
            try:
                return self._begin(self._tracing) if on else self._end(self._tracing)
            except StackcostError as error:
                self._tracing.detach()  # what is attached by then slows the server
                self._cannot_trace = str(error)
        if not self._cannot_trace:
            return []
        now = time.monotonic()
        return [metric.unknown(now, self._cannot_trace) for metric in OF_MODES]

    def _begin(self, tracing: BpfObject) -> list[Sample]:
        tracing.attach()
        self._before = _traced(tracing)
        return []

    def _end(self, tracing: BpfObject) -> list[Sample]:
        after, now = _traced(tracing), time.monotonic()
        tracing.detach()
        return [
            metric.sample(now, (spent - before[of]) * NANOSECOND, **dict(of))
            for metric, found, before in zip(OF_MODES, after, self._before, strict=True)
            for of, spent in found.items()
        ]

    def read(self) -> DeferredSamples:
        """Per CPU: time by kind, softirqs and interrupts by vector; time of every task."""
        programs, cpus = self._running(), online_cpus()
        read = _up_to_now(programs, cpus)
        now, tasks = time.monotonic(), _tasks(programs)
        accounts = {cpu: read[cpu] for cpu in cpus}
        parts: dict[tuple[Metric, ...], Callable[[], Iterable[Sample]]] = {
            (TASK_TIME,): partial(self._of_tasks, now, tasks),
            (SWITCHES,): partial(_switches, accounts),
        }
        if self._detail is Detail.TASKS:
            parts[OF_KINDS] = partial(_not_booked, now)
        else:
            parts[(CPU_EXACT_TIME,)] = partial(self._of_kinds, accounts)
            parts[BY_VECTOR] = partial(_of_vectors, accounts)
        return DeferredSamples(parts)

    def stop(self) -> None:
        """Detach and unload."""
        for programs in (self._programs, self._tracing):
            if programs:
                programs.close()
        self._programs = self._tracing = None

    def _of_kinds(self, accounts: Accounts) -> Iterator[Sample]:
        idle = sum(account.idle for account in accounts.values())
        states = sum(account.idle_states for account in accounts.values())
        tells_idle = states > 0 or idle < IDLE_WITHOUT_STATE_NS
        for cpu, account in accounts.items():
            entry_and_exit = account.idle_entry, account.idle_exit
            kinds = {
                "idle": account.idle,
                **(dict(zip(IDLE_TASK, entry_and_exit, strict=True)) if tells_idle else {}),
                "softirq": sum(account.softirq),
                "irq": sum(account.interrupt),
                **self._by_mode(account),
            }
            for kind, spent in kinds.items():
                until = account.until * NANOSECOND
                yield CPU_EXACT_TIME.sample(until, spent * NANOSECOND, cpu=str(cpu), kind=kind)

    def _of_tasks(self, now: float, tasks: Entries) -> list[Sample]:
        if len(tasks) >= MAX_TASKS:  # the time of others is in none of them
            return [TASK_TIME.unknown(now, TOO_MANY)]
        return [
            TASK_TIME.sample(
                now,
                spent * NANOSECOND,
                cpu=str(key.cpu),
                process=str(task.process),
                thread=str(key.thread),
                command=task.command.decode(errors="replace"),
                kind=kind,
            )
            for key, task in tasks
            for kind, spent in self._by_mode(task).items()
        ]

    def _by_mode(self, times: Account | TaskTime) -> dict[str, int]:
        if self.divides_calls:
            return {"user": times.user, "system": times.system}
        return {"task": times.user + times.system}


def _switches(accounts: Accounts) -> Iterator[Sample]:
    for cpu, account in accounts.items():
        yield SWITCHES.sample(account.until * NANOSECOND, account.switches, cpu=str(cpu))


def _of_vectors(accounts: Accounts) -> Iterator[Sample]:
    for cpu, account in accounts.items():
        until = account.until * NANOSECOND
        for times, counts, time_metric, count_metric, vectors in (
            (account.softirq, account.softirq_count, SOFTIRQ_TIME, SOFTIRQ_COUNT, SOFTIRQS),
            (
                account.interrupt,
                account.interrupt_count,
                IRQ_TIME,
                IRQ_COUNT,
                INTERRUPTS,
            ),
        ):
            for vector, spent, count in zip(vectors, times, counts, strict=True):
                labels = {"cpu": str(cpu), "vector": vector}
                yield time_metric.sample(until, spent * NANOSECOND, **labels)
                yield count_metric.sample(until, count, **labels)


def _not_booked(now: float) -> Iterator[Sample]:
    return (metric.unknown(now, NOT_BOOKED) for metric in OF_KINDS)


def _up_to_now(programs: BpfObject, cpus: Collection[int]) -> Sequence[Account]:
    """The account of each CPU, and its tasks' entries, at this moment."""
    for cpu in cpus:
        programs.run("update_account", cpu)
    return programs.read_per_cpu("accounts", Account)


def _tasks(programs: BpfObject) -> Entries:
    return programs.read_hash("tasks", TaskKey, TaskTime, MAX_TASKS)


def _traced(programs: BpfObject) -> list[TracedTime]:
    """Nanoseconds in user and system mode up to now: of each CPU, and of each process."""
    cpus = online_cpus()
    accounts = _up_to_now(programs, cpus)
    of_cpus, of_processes = Counter[Labels](), Counter[Labels]()
    for cpu in cpus:
        for kind in MODES:
            of_cpus[("cpu", str(cpu)), ("kind", kind)] = getattr(accounts[cpu], kind)
    for _, task in _tasks(programs):
        for kind in MODES:
            of_processes[("process", str(task.process)), ("kind", kind)] += getattr(task, kind)
    return [of_cpus, of_processes]
