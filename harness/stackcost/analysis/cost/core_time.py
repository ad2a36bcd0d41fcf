"""CPU seconds of the parts of a test bed in a phase of a trial, also as shares.

For a server on the kernel stack: the exact time of its own processes, and of those of a server
behind a device, on its cores, divided into user and system (`user_share`); the kernel threads that
work for its packets on its cores, as system time; and all softirq and interrupt time of its cores,
exactly. For a peer that polls: the time of loop iterations that did work; iterations that found
nothing to do are idle and left out.
"""

from collections import defaultdict
from dataclasses import dataclass

from stackcost.analysis.cost.threads import seconds_of_threads, thread_series
from stackcost.analysis.cost.user_share import PROCESS_TIMES, divided
from stackcost.analysis.readings import Readings, sum_of
from stackcost.contracts import metrics
from stackcost.contracts.metrics import IDLE_TASK, POLL_ROLE
from stackcost.contracts.sample import Sample

TOLERANCE = 0.01  # of wall time x cores


@dataclass(frozen=True, slots=True)
class CpuSeconds:
    """Seconds of one CPU in a window; None for what is not known.

    `idle`: all of the idle task. `idle_entry`, `idle_exit`: the parts of it outside of idle states.
    `residue`: the window's length less all the others; 0 when the account closes. `stolen`: what
    the hypervisor took, which lies inside the others, as the guest's tracepoints cannot see it.
    """

    user: float | None
    system: float | None
    irq: float | None
    softirq: float | None
    idle: float | None
    idle_entry: float | None
    idle_exit: float | None
    residue: float | None
    stolen: float | None


@dataclass(frozen=True, slots=True)
class AccountedTime:
    """Seconds over all cores in one phase.

    An account that does not close has lost time, or booked some twice, and no figure of it is worth
    more than the gap.

    `wall`: its length x cores. `exact`: what the tracepoints booked; time that a hypervisor took
    lies inside. `ticks`: all columns of /proc/stat, steal among them, which a kernel that accounts
    by ticks only estimates; None when not read. `stolen`: its column steal.
    """

    wall: float
    exact: float
    ticks: float | None
    stolen: float | None

    @property
    def share(self) -> float:
        """Of wall time x cores, what the exact account holds: 1 when it closes."""
        return self.exact / self.wall

    @property
    def is_whole(self) -> bool:
        """Whether it does, within TOLERANCE."""
        return abs(self.share - 1) <= TOLERANCE


def accounted_time(readings: Readings) -> AccountedTime | None:
    """The account of all cores in a phase; None when a core's was not read."""
    window = readings.window
    cores = {sample.labels.get("cpu") for sample in readings.samples(metrics.CPU_EXACT_TIME)} - {
        None
    }
    if window is None or not cores:
        return None
    residues = []
    for core in cores:
        account = core_seconds(readings, int(core or 0))
        if account is None or account.residue is None:
            return None
        residues.append(account.residue)
    wall = window.length * len(cores)
    kinds = readings.by_label(metrics.CPU_TIME, "kind")
    return AccountedTime(
        wall=wall,
        exact=wall - sum(residues),
        ticks=sum(kinds.values()) if kinds else None,
        stolen=kinds.get("steal"),
    )


POLL_THREAD = "napi/"  # what the kernel names threads that poll an interface
SOFTIRQ_THREAD = "ksoftirqd/"  # and those that run softirqs when there are many
# Its workers. One of them looks through the table of tracked connections for those that are over
# (net/netfilter/nf_conntrack_core.c, gc_worker), and no worker's name says what it does.
WORKER_THREAD = "kworker/"
BUSY_PARTS = {  # of a polling peer's busy time; the rest is its stack
    "copying": metrics.ENGINE_COPYING_TIME,
    "sending": metrics.ENGINE_SENDING_TIME,
}
Cost = dict[str, float | None]


def kernel_seconds(readings: Readings) -> Cost:
    """CPU seconds of a server on the kernel's stack, by kind; None for an unknown kind.

    The time of other programs is not included, see `foreign_share`. On cores that clients share,
    the kernel's work cannot be divided between the sides: "system" is that of the server's
    processes only, and both kinds of interrupts are unknown.
    """
    shared = readings.trial.traffic.cores_shared
    cores = [core_seconds(readings, cpu) for cpu in readings.cpus]
    task = _process_seconds(readings)
    user, system = divided(readings, task, own_processes(readings))
    if not shared:
        system = sum_of([system, kernel_thread_seconds(readings)])
    return {
        "user": user,
        "system": system,
        "irq": None if shared else sum_of([core.irq if core else None for core in cores]),
        "softirq": None if shared else sum_of([core.softirq if core else None for core in cores]),
    }


def idle_task_seconds(readings: Readings) -> Cost:
    """CPU seconds in which the idle task entered idle states and left them; None if unknown."""
    cores = [core_seconds(readings, cpu) for cpu in readings.cpus]
    if readings.trial.traffic.cores_shared:
        cores = [None]
    entries = [core.idle_entry if core else None for core in cores]
    exits = [core.idle_exit if core else None for core in cores]
    return dict(zip(IDLE_TASK, map(sum_of, (entries, exits)), strict=True))


def foreign_share(readings: Readings) -> float | None:
    """Share (0 to 1) of the server's cores that other programs used.

    Not of others are the kernel's threads (`kernel_threads`) and, on shared cores, clients, what
    stands behind the server, and the harness.
    """
    if _process_seconds(readings) is None:
        return None
    window = readings.phases[readings.phase]
    known = {sample.labels["process"] for sample in _process_samples(readings)}
    known |= set(map(str, readings.trial.traffic.others))
    kernel = kernel_threads(readings)
    foreign = sum(
        spent
        for thread, spent in seconds_of_threads(readings).items()
        if thread.process not in known and not thread.command.startswith(kernel)
    )
    # Growth is scaled from readings to the whole window, so it may be a little more than all of it.
    return min(1.0, foreign / (window.length * len(readings.cpus)))


def own_series(readings: Readings) -> dict[str, list[list[Sample]]]:
    """The counters of what the server's side took: "busy" and its parts of a polling peer, and
    "task", "irq", "softirq" and what the idle task did, of some cores that are not shared. Kinds
    that were not read often enough lack.
    """
    found = {
        # A TRex reports whole seconds, which say nothing about a slice.
        "busy": [
            series
            for series in readings.series(metrics.ENGINE_BUSY_TIME, engine="peer")
            if not series[0].source.startswith("TRex")
        ],
        **{part: readings.series(metric, engine="peer") for part, metric in BUSY_PARTS.items()},
    }
    if not readings.trial.traffic.cores_shared:
        own, kernel = own_processes(readings), kernel_threads(readings)
        for kind in ("irq", "softirq", *IDLE_TASK):
            found[kind] = [
                series
                for cpu in readings.cpus
                for series in readings.series(metrics.CPU_EXACT_TIME, cpu=str(cpu), kind=kind)
            ]
        found["task"] = [
            series
            for thread, series in thread_series(readings).items()
            if thread.process in own or thread.command.startswith(kernel)
        ]
    return {kind: series for kind, series in found.items() if series}


def _process_seconds(readings: Readings) -> float | None:
    """Time of the server's processes themselves, without softirqs and interrupts.

    A device that has no program, but threads of the kernel that poll its links, takes none.
    """
    own, ran = own_processes(readings), seconds_of_threads(readings)
    if not _process_samples(readings) or not ran:
        return None
    return sum(spent for thread, spent in ran.items() if thread.process in own)


def _process_samples(readings: Readings) -> list[Sample]:
    """Of the server's processes, and of those behind a device; none if they could not be read."""
    return [each for metric in PROCESS_TIMES for each in readings.samples(metric) if each.labels]


def own_processes(readings: Readings) -> set[str]:
    """The server's processes, without threads of the kernel that count as such."""
    return {
        sample.labels["process"]
        for sample in _process_samples(readings)
        if not sample.labels["role"].startswith(POLL_ROLE)
    }


def kernel_threads(readings: Readings) -> tuple[str, ...]:
    """Starts of the names of kernel threads whose time is the server's side's on its cores.

    Workers only where connections were tracked.
    """
    tracked = readings.level(metrics.CONNTRACK_ENTRIES)
    return (POLL_THREAD, SOFTIRQ_THREAD, *((WORKER_THREAD,) if tracked else ()))


def kernel_thread_seconds(readings: Readings, names: tuple[str, ...] = ()) -> float | None:
    """Time of these threads on some cores, without softirqs and interrupts; of `names`, if any.

    None when no thread's time is known, of whatever core, and without cores.
    """
    names, ran = names or kernel_threads(readings), seconds_of_threads(readings)
    if not ran and (not readings.cpus or readings.growth(metrics.TASK_TIME) is None):
        return None
    return sum(spent for thread, spent in ran.items() if thread.command.startswith(names))


def core_seconds(readings: Readings, cpu: int) -> CpuSeconds | None:
    """Seconds of one core in a phase by kind, such that the kinds close to the phase's length; None
    when the trial did not reach the phase.

    Softirq, interrupt, idle and task time are exact (`CpuAccount`); `user_share` divides the last.
    """
    if readings.window is None:
        return None
    at = {"cpu": str(cpu)}
    irq, softirq, resting, entry, exit_, task, user, system = (
        readings.growth(metrics.CPU_EXACT_TIME, **at, kind=kind)
        for kind in ("irq", "softirq", "idle", *IDLE_TASK, "task", "user", "system")
    )
    idle = None if resting is None else resting + (entry or 0.0) + (exit_ or 0.0)
    if task is not None:
        user, system = divided(readings.on([cpu]), task)
    else:
        task = sum_of([user, system])
    whole = sum_of([task, irq, softirq, idle])
    residue = None if whole is None else readings.window.length - whole
    stolen = readings.growth(metrics.CPU_TIME, **at, kind="steal")
    return CpuSeconds(user, system, irq, softirq, idle, entry, exit_, residue, stolen)


def seconds_by_process(readings: Readings, cpu: int) -> dict[tuple[int, str], float]:
    """Exact seconds on one core by process id and command: who else ran on the server's core.
    Empty when not read.
    """
    found: dict[tuple[int, str], float] = defaultdict(float)
    for thread, spent in seconds_of_threads(readings.on([cpu])).items():
        found[int(thread.process), thread.command] += spent
    return {process: seconds for process, seconds in found.items() if seconds > 0}


def receive_share(readings: Readings) -> float | None:
    """Share (0 to 1) of the machine's receive work that ran on some cores.

    Receive work: NET_RX softirq anywhere, and the threads that poll an interface on these cores,
    where threaded NAPI without packet steering does all of it.
    """
    by_cpu = readings.by_label(metrics.SOFTIRQ_TIME, "cpu", vector="NET_RX")
    polls = kernel_thread_seconds(readings, (POLL_THREAD,))
    everywhere = sum(by_cpu.values()) + (polls or 0.0)
    if polls is None or not by_cpu or not everywhere:
        return None
    return (sum(by_cpu.get(str(cpu), 0.0) for cpu in readings.cpus) + polls) / everywhere


def why_no_receive_share(readings: Readings) -> str:
    """The reason that was given for not knowing a part of it; empty when none was."""
    return readings.why_unknown(metrics.SOFTIRQ_TIME) or readings.why_unknown(metrics.TASK_TIME)


def has_peer(readings: Readings) -> bool:
    """Whether the server was a peer: it sends and receives frames without the kernel's stack."""
    told = (metrics.ENGINE_BUSY_TIME, metrics.TREX_COUNTER)
    return any(readings.series(metric, engine="peer") for metric in told)


def engine_busy_seconds(readings: Readings, engine: str) -> float | None:
    """Seconds in which a polling engine ("generator" or "peer") did work, over all its cores."""
    return readings.growth(metrics.ENGINE_BUSY_TIME, engine=engine)


def engine_busy_share(readings: Readings, engine: str) -> float | None:
    """Share (0 to 1) of an engine's time in which it was busy."""
    busy = engine_busy_seconds(readings, engine)
    whole = readings.growth(metrics.ENGINE_TIME, engine=engine)
    return busy / whole if busy is not None and whole else None


def steal_shares(readings: Readings) -> dict[str, float]:
    """Of each core the share (0 to 1) of its time that the hypervisor gave to others."""
    whole = readings.by_label(metrics.CPU_TIME, "cpu")
    stolen = readings.by_label(metrics.CPU_TIME, "cpu", kind="steal")
    return {cpu: stolen.get(cpu, 0.0) / time for cpu, time in whole.items() if time}
