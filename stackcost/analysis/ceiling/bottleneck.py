"""Finds the bottleneck from the readings of a trial that lost part of its load.

Every sign that is found is evidence; the first in the order below is the cause. A limit that was
reached comes before a core without time, as a server at a limit may also be busy; and a queue that
overflows comes after it, as queues overflow when nobody has time to empty them. Last comes what
disturbed the trial: it makes a limit come earlier.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from stackcost.analysis import core_time, flows, traffic
from stackcost.analysis.checks import is_hold
from stackcost.analysis.device import lost_frames
from stackcost.analysis.flags import generator_limits, late_starts
from stackcost.analysis.limits import full_accept_queue, limits_reached
from stackcost.analysis.readings import Readings
from stackcost.analysis.thresholds import FOREIGN_LIMIT

SATURATED = 0.95  # of a core's time
POLL_THREAD = core_time.POLL_THREAD

Cause = Literal[
    "generator",
    "open files",
    "server's own limit",
    "connection tracking",
    "client ports",
    "memory",
    "core",
    "packet queue",
    "accept queue",
    "SYN queue",
    "in the device",
    "before the device",
    "behind the device",
    "on the way",
    "other programs",
    "unknown",
]


class Evidence(BaseModel):
    """One sign: of which cause, and in words with its figures."""

    model_config = ConfigDict(frozen=True)

    cause: Cause
    words: str


class Bottleneck(BaseModel):
    """The answer: `cause`, the trial it was seen in, a sentence, and all signs in order.

    `disturbed`: what the generator or the machine did to that trial.
    """

    model_config = ConfigDict(frozen=True)

    cause: Cause
    trial: int
    sentence: str
    evidence: list[Evidence]
    disturbed: list[str]


def find_bottleneck(
    seen: Readings, server_cpus: Collection[int], disturbed: Sequence[str] = ()
) -> Bottleneck:
    """Read the signs of a trial that lost something."""
    signs = list(_signs(seen, server_cpus))
    if not signs:
        words = "no measured resource was at its limit"
        signs = [Evidence(cause="unknown", words=words)]
    sentence = signs[0].words + "".join(f"; {sign.words}" for sign in signs[1:])
    return Bottleneck(
        cause=signs[0].cause,
        trial=seen.trial.number,
        sentence=sentence,
        evidence=signs,
        disturbed=list(disturbed),
    )


def _signs(seen: Readings, server_cpus: Collection[int]) -> Iterator[Evidence]:
    for found in generator_limits(seen):
        yield Evidence(cause="generator", words=f"the generator was the limit: {found}")
    for reached in limits_reached(seen):
        yield Evidence(cause=reached.limit, words=reached.words)
    yield from _memory(seen)
    saturated = list(_cores(seen, server_cpus))
    yield from saturated
    queues = list(_queues(seen))
    yield from queues
    located = list(_lost_frames(seen))
    yield from located
    if not saturated and not queues and not located:
        yield from _lost_on_the_way(seen)
    yield from _disturbances(seen, server_cpus)


def _lost_frames(seen: Readings) -> Iterator[Evidence]:
    """Where a device under test stands between the ports: where frames of the trial were lost."""
    lost = lost_frames(seen.trial)
    if lost is None:
        return
    if lost.inside:
        yield Evidence(cause="in the device", words=f"the device dropped {lost.inside:,} frames")
    if lost.before:
        words = f"{lost.before:,} frames of the generator did not reach the device"
        yield Evidence(cause="before the device", words=words)
    if lost.after:
        words = f"{lost.after:,} frames of the device did not reach the generator"
        yield Evidence(cause="behind the device", words=words)
    if lost.somewhere:
        words = f"{lost.somewhere:,} frames were lost in the device, or on the way to or from it"
        yield Evidence(cause="on the way", words=words)


def _lost_on_the_way(seen: Readings) -> Iterator[Evidence]:
    attempted, connected, again = (
        flows.client_counter(seen.trial, name)
        for name in ("tcps_connattempt", "tcps_connects", "tcps_rexmttimeo_syn")
    )
    if attempted > connected or again:
        words = (
            f"{attempted - connected:,} SYNs were not answered and {again:,} were retransmitted, "
            "but no counter of the server shows drops: they were lost on the path to the server"
        )
        yield Evidence(cause="on the way", words=words)


def _disturbances(seen: Readings, server_cpus: Collection[int]) -> Iterator[Evidence]:
    """Disturbances are last: they lower every limit, but they are no limits themselves."""
    foreign = core_time.foreign_share(seen, server_cpus, _busy_phase(seen))
    if foreign is not None and foreign > FOREIGN_LIMIT:
        words = f"other programs took {foreign:.0%} of the server's cores"
        yield Evidence(cause="other programs", words=words)
    for found in late_starts(seen):
        yield Evidence(cause="generator", words=found)


def _memory(seen: Readings) -> Iterator[Evidence]:
    for counter, what in (
        ("TcpExtTCPMemoryPressures", "TCP was under memory pressure (net.ipv4.tcp_mem) {} times"),
        ("TcpExtTCPAbortOnMemory", "TCP aborted {} connections because of a lack of memory"),
    ):
        if number := _tcp(seen, counter):
            yield Evidence(cause="memory", words=what.format(f"{number:,}"))


def _cores(seen: Readings, server_cpus: Collection[int]) -> Iterator[Evidence]:
    """Cores without idle time; the time that other programs used does not count.

    A search does not measure softirqs exactly, so these shares come from /proc/stat.
    """
    phase = _busy_phase(seen)
    length = seen.phases[phase].length
    foreign = core_time.foreign_share(seen, server_cpus, phase) or 0.0
    for core in server_cpus:
        whole = seen.growth("engine.time", phase, engine="peer", cpu=str(core))
        idle, softirq = (
            seen.growth("cpu.time", phase, cpu=str(core), kind=kind) for kind in ("idle", "softirq")
        )
        if whole:
            busy = (seen.growth("engine.busy_time", phase, cpu=str(core)) or 0.0) / whole
            what = f"the peer was busy {busy:.0%} of the time"
        elif idle is not None:
            busy = 1 - idle / length
            what = f"{busy:.0%} busy ({_shares(seen, core, phase, (softirq or 0.0) / length)})"
        else:
            continue
        if busy - (0.0 if whole else foreign) > SATURATED:
            yield Evidence(cause="core", words=f"core {core} was saturated: {what}")


def _busy_phase(seen: Readings) -> str:
    """The phase in which the load on the server is highest."""
    return "opening" if is_hold(seen.trial) else "sustain"


def _shares(seen: Readings, core: int, phase: str, softirq: float) -> str:
    """The use of a core's time: polling and the two busiest programs, each with the softirqs that
    interrupted it, and the total share of softirqs.
    """
    length = seen.phases[phase].length
    tasks = seen.by_label("task.time", phase, "command", cpu=str(core))
    polls = core_time.poll_seconds(seen, (core,), phase) / length
    programs = {n: s / length for n, s in tasks.items() if not n.startswith(POLL_THREAD)}
    parts = [f"NAPI threads {polls:.0%}"] if polls else []
    busiest = sorted(programs.items(), key=lambda program: -program[1])[:2]
    parts += [f"{name} {share:.0%}" for name, share in busiest if share > 0.01]
    parts = parts or ["no program"]
    return f"{', '.join(parts)}; softirqs included: {softirq:.0%}, sampled by the kernel's ticks"


def _queues(seen: Readings) -> Iterator[Evidence]:
    dropped = _grown(seen, "softnet.dropped")
    if dropped:
        words = f"a full backlog dropped {dropped:,} packets (net.core.netdev_max_backlog)"
        yield Evidence(cause="packet queue", words=words)
    overflowed = _tcp(seen, "TcpExtListenOverflows")
    if overflowed:
        queue = traffic.limits(seen.trial).accept_queue
        room = f" (its length is {queue.limit:,})" if queue else ""
        words = f"the accept queue overflowed {overflowed:,} times{room}"
        yield Evidence(cause="accept queue", words=words)
    elif waiting := full_accept_queue(seen):  # of Onload, which counts no overflow with the kernel
        yield Evidence(cause="accept queue", words=waiting)
    full = _tcp(seen, "TcpExtTCPReqQFullDrop") + _tcp(seen, "TcpExtTCPReqQFullDoCookies")
    if full:
        words = f"the queue of half-open connections was full {full:,} times"
        yield Evidence(cause="SYN queue", words=words)


def _tcp(seen: Readings, counter: str) -> int:
    return _grown(seen, "tcp.counter", counter=counter)


def _grown(seen: Readings, metric: str, **labels: str) -> int:
    """Growth over the whole trial."""
    parts = (seen.growth(metric, phase, **labels) or 0.0 for phase in seen.phases)
    return round(sum(parts))
