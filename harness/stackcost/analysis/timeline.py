"""Rates and levels of an event's trial over time, in seconds from its start."""

from collections.abc import Sequence
from itertools import pairwise

from stackcost.contracts.load import DeviceEvent
from stackcost.contracts.sample import Sample
from stackcost.contracts.trial import Trial

Series = list[tuple[float, float]]


def began(trial: Trial) -> float:
    """When the traffic started, CLOCK_MONOTONIC."""
    timeline = trial.load_of(DeviceEvent).timeline
    assert timeline is not None, "the event had not begun"
    return timeline.began


def group_counter(trial: Trial, group: str, counter: str) -> Series:
    """A client counter of a template group; from zero, since none was counted before."""
    found = [(0.0, 0.0)]
    times: dict[float, float] = {}
    wanted = {"group": group, "side": "client"}
    for sample in trial.samples:
        if sample.metric == "trex.group_counter" and wanted.items() <= sample.labels.items():
            times.setdefault(sample.time, 0.0)
            if sample.labels["counter"] == counter:
                times[sample.time] = sample.value or 0.0
    highest = 0.0
    for time, value in sorted(times.items()):
        highest = max(highest, value)
        found.append((time - began(trial), highest))
    return found


def level(trial: Trial, metric: str) -> Series:
    """A gauge of the device."""
    found = {s.time: s.value for s in trial.samples if s.metric == metric and s.value is not None}
    return [(time - began(trial), value) for time, value in sorted(found.items())]


def completion_ms(trial: Trial, group: str, percentile: str) -> Series:
    """How long a group's connections took that ended since the reading before."""
    wanted = {"group": group, "kind": "completion", "percentile": percentile}
    return [
        (s.time - began(trial), s.value * 1e3)
        for s in trial.samples
        if s.metric == "engine.latency" and s.labels == wanted and s.value is not None
    ]


def rate(series: Sequence[tuple[float, float]]) -> Series:
    """Per second between each two readings, at the later one."""
    return [
        (at, (after - before) / (at - since))
        for (since, before), (at, after) in pairwise(series)
        if at > since
    ]


def core_share(trial: Trial, cpu: int) -> Series:
    """Share (0 to 1) of a core's time in softirq."""
    samples: list[Sample] = [
        s
        for s in trial.samples
        if s.metric == "cpu.exact_time" and s.labels == {"cpu": str(cpu), "kind": "softirq"}
    ]
    return rate([(s.time - began(trial), s.value) for s in samples if s.value is not None])
