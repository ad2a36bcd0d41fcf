"""Trials with known figures, built from the real sample types."""

import itertools
from collections.abc import Iterable, Mapping, Sequence

from hdrh.histogram import HdrHistogram

from stackcost.analysis.cost.core_time import CpuSeconds, core_seconds
from stackcost.analysis.readings import Readings
from stackcost.contracts.latency import HIGHEST_US, SIGNIFICANT_FIGURES
from stackcost.contracts.load import ConstantLoad, CountedLoad, HeldFlows
from stackcost.contracts.sample import Kind, Sample
from stackcost.contracts.trial import Trial
from stackcost.contracts.window import Window

START, END = 100.0, 110.0
SUSTAIN = Window(START, END)


def counter(metric: str, grows: float, labels: dict[str, str], first: float = 5.0) -> list[Sample]:
    """A counter read at both edges of the window and outside of it, where it grows as well."""
    last = first + grows
    moments = ((START - 1, first - 1), (START, first), (END, last), (END + 1, last + 9))
    return [
        Sample(moment, metric, labels, value, "1", Kind.COUNTER, "made for a test")
        for moment, value in moments
    ]


def tenths(metric: str, grown: Sequence[float], labels: dict[str, str]) -> list[Sample]:
    """A counter read at all tenths of a second of the window."""
    values = itertools.accumulate(grown, initial=5.0)
    return [
        Sample(START + tenth / 10, metric, labels, value, "1", Kind.COUNTER, "made for a test")
        for tenth, value in enumerate(values)
    ]


def gauge(metric: str, levels: Iterable[float], labels: dict[str, str]) -> list[Sample]:
    """A level read once a second from the start of the window on."""
    return [
        Sample(START + second, metric, labels, value, "B", Kind.GAUGE, "made for a test")
        for second, value in enumerate(levels)
    ]


def seen_in(samples: list[Sample], window: Window) -> Readings:
    """The readings of a trial with these samples, whose sustain phase this window is."""
    load = CountedLoad(connections=1, offered_cps=1.0)
    return Readings(Trial("made", 1, 1, load, phases={"sustain": window}, samples=samples))


def seconds_of(samples: list[Sample], window: Window, cpu: int) -> CpuSeconds:
    """Of one core in the window."""
    found = core_seconds(seen_in(samples, window), cpu)
    assert found is not None
    return found


def client_counters(completed: int, sent_bytes: int, **others: float) -> dict[str, float]:
    """What a generator reports after a trial without a fault, but for `others`."""
    return {
        "tcps_connattempt": completed,
        "tcps_connects": completed,
        "tcps_closed": completed,
        "tcps_rcvbyte": sent_bytes,
        **others,
    }


def load_trial(
    server: str = "nginx/kernel",
    number: int = 1,
    round_number: int = 1,
    offered: float = 1000,
    microseconds: dict[str, float] | None = None,
    completed: int = 10_000,
) -> Trial:
    """A sustain window of 10 s in which `completed` connections each cost `microseconds`.

    Kinds "user", "system", "irq", "softirq" are of core 1; "busy" makes it a polling peer, and
    "copying" and "sending", parts of that, one that tells them. The generator on core 0 takes 40 %
    of its time.
    """
    load = ConstantLoad(
        offered_cps=offered,
        server_requests=completed,
        client=client_counters(completed, completed * 33_000),
    )
    trial = Trial(server, number, round_number, load, 33_000, phases={"sustain": SUSTAIN})
    costs = microseconds or {"user": 10, "system": 40, "irq": 1, "softirq": 49}
    seconds = {kind: cost * completed / 1e6 for kind, cost in costs.items()}
    parts = {part: seconds.pop(part) for part in ("copying", "sending") if part in seconds}
    softirq = seconds.get("softirq", 0.0)
    exact = {
        "task": sum(seconds.get(kind, 0.0) for kind in ("user", "system", "busy")),
        "irq": seconds.get("irq", 0.0),
        "softirq": softirq,
        "idle": 10 - sum(seconds.values()),
    }
    for kind, spent in exact.items():
        trial.samples += counter("cpu.exact_time", spent, {"cpu": "1", "kind": kind})
    received = softirq / 99
    other = {"task": 10 - received, "irq": 0.0, "softirq": received, "idle": 0.0}
    for kind, spent in other.items():
        trial.samples += counter("cpu.exact_time", spent, {"cpu": "0", "kind": kind})
    task = {"cpu": "1", "process": "7", "thread": "7", "command": "nginx", "kind": "task"}
    trial.samples += counter("task.time", exact["task"], task)
    for kind in ("user", "system"):
        spent = {"role": "worker-0", "process": "7", "kind": kind}
        trial.samples += counter("process.cpu_time", seconds.get(kind, 0.0) * 1.3, spent)
    # As ticks see it, everything is half of what it is: only their ratio may be used.
    for kind in ("user", "system", "irq", "softirq", "idle", "nice", "steal"):
        for core in ("0", "1"):
            ticks = seconds.get(kind, 0.0) / 2
            trial.samples += counter("cpu.time", ticks, {"cpu": core, "kind": kind})
    for core, received in (("1", softirq), ("0", softirq / 99)):
        labels = {"cpu": core, "vector": "NET_RX"}
        trial.samples += counter("softirq.time", received, labels)
    engines = {"generator": 4.0} | ({"peer": seconds["busy"]} if "busy" in seconds else {})
    for engine, busy in engines.items():
        labels = {"engine": engine, "core": "0", "cpu": "0" if engine == "generator" else "1"}
        trial.samples += counter("engine.busy_time", busy, labels)
        trial.samples += counter("engine.time", 10.0, labels)
        for part, spent in parts.items() if engine == "peer" else ():
            trial.samples += counter(f"engine.{part}_time", spent, labels)
    for name, value in (("tcps_closed", completed), ("tcps_drops", 0)):
        labels = {"engine": "generator", "side": "client", "counter": name}
        trial.samples += counter("trex.counter", value, labels)
    return trial


def add_backend(
    trial: Trial, microseconds: float, polls: float, completed: int, cpu: str = "0"
) -> None:
    """A server behind a device on one core, a quarter in user mode; `polls`: of its poll thread."""
    for process, command, each in (("8", "nginx", microseconds), ("9", "napi/sc-server0-1", polls)):
        labels = {"cpu": cpu, "process": process, "thread": process, "command": command}
        trial.samples += counter("task.time", each * completed / 1e6, labels | {"kind": "task"})
    for role, process, user, system in (("worker-0", "8", 0.2, 0.6), ("receive-poll-0", "9", 0, 1)):
        for kind, ticks in (("user", user), ("system", system)):
            labels = {"role": role, "process": process, "kind": kind}
            trial.samples += counter("backend.cpu_time", ticks, labels)


def hold_trial(
    open_flows: int,
    bytes_per_flow: dict[str, float],
    server: str = "nginx/kernel",
    number: int = 1,
    round_number: int = 1,
) -> Trial:
    """`open_flows` flows held open; memory is 1 MB and `bytes_per_flow` for each, by metric."""
    load = HeldFlows(
        open_flows=open_flows,
        held_flows=open_flows,
        client=client_counters(open_flows, open_flows * 33_000),
    )
    trial = Trial(server, number, round_number, load, 33_000, phases={"hold": SUSTAIN})
    for metric, each in bytes_per_flow.items():
        size = 1e6 + each * open_flows
        labels = LABELS[metric]
        trial.samples += gauge(metric, (size, size + 100, size - 90, size), labels)
    return trial


LABELS = {
    "slab.bytes": {"cache": "TCP"},
    "sockstat.memory": {"protocol": "TCP"},
    "process.pss": {"role": "worker-0", "pid": "7"},
    "engine.pool_in_use": {"engine": "peer", "pool": "flow"},
}


def slow_slices(trial: Trial, slow: Sequence[bool]) -> None:
    """Core 1 took a third longer for known work in some tenths of a second of the window."""
    trial.samples += tenths("core.work_count", [5] * len(slow), {"cpu": "1"})
    times = [5 * (8e-6 if each else 6e-6) for each in slow]
    trial.samples += tenths("core.work_time", times, {"cpu": "1"})
    trial.samples += gauge("core.work_least", [6e-6], {"cpu": "1"})


def add_other_program(trial: Trial, seconds: float) -> None:
    """A program beside the server on core 1, for so much of its idle time in the window.

    It was started inside of the window, so the first reading of its own time is at the end.
    """
    labels = {"cpu": "1", "process": "99", "thread": "99", "command": "cc1plus", "kind": "task"}
    its_own = counter("task.time", seconds, labels, first=0.0)
    trial.samples += [sample for sample in its_own if sample.time >= END]
    move_time(trial, "1", {"task": seconds, "idle": -seconds})


def move_time(trial: Trial, cpu: str, seconds: Mapping[str, float]) -> None:
    """So many seconds more of each kind on a core in the window, exactly."""
    for place, sample in enumerate(trial.samples):
        more = seconds.get(sample.labels.get("kind", ""), 0.0)
        if sample.metric == "cpu.exact_time" and sample.labels["cpu"] == cpu and sample.time >= END:
            assert sample.value is not None
            trial.samples[place] = sample._replace(value=sample.value + more)


def encoded(microseconds: Mapping[int, int]) -> str:
    """A histogram as the generator tells it: how often each time was."""
    histogram = HdrHistogram(1, HIGHEST_US, SIGNIFICANT_FIGURES)
    for value, count in microseconds.items():
        histogram.record_value(value, count)
    return str(histogram.encode().decode())
