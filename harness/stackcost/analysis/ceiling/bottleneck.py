"""Finds the bottleneck from the readings of a trial that lost part of its load.

Every sign that is found is evidence; the first in the order below is the cause. A limit that was
reached comes before a core without time, as a server at a limit may also be busy; and a queue that
overflows comes after it, as queues overflow when nobody has time to empty them. Last comes what
disturbed the trial: it makes a limit come earlier.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from stackcost.analysis.cost import core_time
from stackcost.analysis.readings import Readings
from stackcost.analysis.trial import diagnosis
from stackcost.analysis.trial.diagnosis import Finding
from stackcost.analysis.trial.flags import generator_limits, late_starts
from stackcost.analysis.trial.limits import limits_reached
from stackcost.analysis.trial.thresholds import FOREIGN_LIMIT
from stackcost.contracts import metrics

SATURATED = 0.95  # of a core's time
POLL_THREAD = core_time.POLL_THREAD

Cause = Literal[
    "generator",
    "open files",
    "server's own limit",
    "connection tracking",
    "client ports",
    "frame size",
    "no route",
    "memory",
    "core",
    "packet queue",
    "accept queue",
    "SYN queue",
    "in the device",
    "before the device",
    "behind the device",
    "on the way",
    "reset",
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


def find_bottleneck(readings: Readings, disturbed: Sequence[str] = ()) -> Bottleneck:
    """Read the signs of a trial that lost something."""
    signs = list(_signs(readings))
    if not signs:
        words = "no measured resource was at its limit"
        signs = [Evidence(cause="unknown", words=words)]
    sentence = signs[0].words + "".join(f"; {sign.words}" for sign in signs[1:])
    return Bottleneck(
        cause=signs[0].cause,
        trial=readings.trial.number,
        sentence=sentence,
        evidence=signs,
        disturbed=list(disturbed),
    )


def _signs(readings: Readings) -> Iterator[Evidence]:
    for found in generator_limits(readings):
        yield Evidence(cause="generator", words=f"the generator was the limit: {found}")
    for reached in limits_reached(readings):
        yield Evidence(cause=reached.limit, words=reached.words)
    refused = list(diagnosis.refused(readings))
    yield from map(_evidence, refused)
    yield from _memory(readings)
    saturated = list(_cores(readings))
    yield from saturated
    located = [*diagnosis.queues(readings), *diagnosis.located(readings)]
    yield from map(_evidence, located)
    if not refused and not saturated and not located:
        yield from map(_evidence, diagnosis.unanswered(readings))
    yield from _disturbances(readings)


def _evidence(found: Finding) -> Evidence:
    return Evidence(cause=found.place, words=found.words)


def _disturbances(readings: Readings) -> Iterator[Evidence]:
    """Disturbances are last: they lower every limit, but they are no limits themselves."""
    foreign = core_time.foreign_share(_when_busy(readings))
    if foreign is not None and foreign > FOREIGN_LIMIT:
        words = f"other programs took {foreign:.0%} of the server's cores"
        yield Evidence(cause="other programs", words=words)
    for found in late_starts(readings):
        yield Evidence(cause="generator", words=found)


def _memory(readings: Readings) -> Iterator[Evidence]:
    for counter, what in (
        ("TcpExtTCPMemoryPressures", "TCP was under memory pressure (net.ipv4.tcp_mem) {} times"),
        ("TcpExtTCPAbortOnMemory", "TCP aborted {} connections because of a lack of memory"),
    ):
        if number := _tcp(readings, counter):
            yield Evidence(cause="memory", words=what.format(f"{number:,}"))


def _cores(readings: Readings) -> Iterator[Evidence]:
    """Cores without idle time; the time that other programs used does not count.

    A search does not measure softirqs exactly, so these shares come from /proc/stat.
    """
    readings = _when_busy(readings)
    length = readings.phases[readings.phase].length
    foreign = core_time.foreign_share(readings) or 0.0
    for core in readings.cpus:
        whole = readings.growth(metrics.ENGINE_TIME, engine="peer", cpu=str(core))
        idle, softirq = (
            readings.growth(metrics.CPU_TIME, cpu=str(core), kind=kind)
            for kind in ("idle", "softirq")
        )
        if whole:
            busy = (readings.growth(metrics.ENGINE_BUSY_TIME, cpu=str(core)) or 0.0) / whole
            what = f"the peer was busy {busy:.0%} of the time"
        elif idle is not None:
            busy = 1 - idle / length
            what = f"{busy:.0%} busy ({_shares(readings, core, (softirq or 0.0) / length)})"
        else:
            continue
        if busy - (0.0 if whole else foreign) > SATURATED:
            yield Evidence(cause="core", words=f"core {core} was saturated: {what}")


def _when_busy(readings: Readings) -> Readings:
    """In the phase in which the load on the server is highest."""
    return readings.at("opening") if readings.trial.traffic.holds else readings


def _shares(readings: Readings, core: int, softirq: float) -> str:
    """The use of a core's time: polling and the two busiest programs, each with the softirqs that
    interrupted it, and the total share of softirqs.
    """
    length = readings.phases[readings.phase].length
    polls = core_time.kernel_thread_seconds(readings.on([core]), (POLL_THREAD,))
    programs: dict[str, float] = defaultdict(float)
    for (_, name), spent in core_time.seconds_by_process(readings, core).items():
        if not name.startswith(POLL_THREAD):
            programs[name] += spent / length
    parts = [f"NAPI threads {polls / length:.0%}"] if polls else []
    busiest = sorted(programs.items(), key=lambda program: -program[1])[:2]
    parts += [f"{name} {share:.0%}" for name, share in busiest if share > 0.01]
    parts = parts or ["programs unknown" if polls is None else "no program"]
    return f"{', '.join(parts)}; softirqs included: {softirq:.0%}, sampled by the kernel's ticks"


def _tcp(readings: Readings, counter: str) -> int:
    return diagnosis.grown(readings, metrics.TCP_COUNTER, counter=counter)
