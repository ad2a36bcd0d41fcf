"""One value of one metric at one moment, and what all values of a metric have in common."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """How a metric's values over time are to be read."""

    COUNTER = "counter"  # only grows: a window's figure is last - first
    GAUGE = "gauge"  # a level: a window's figure is its median


class Sample(NamedTuple):
    """One value of one metric at one moment.

    It is a named tuple, because a trial has ten thousands of samples, and tuples are fast to make.

    `time`: seconds of CLOCK_MONOTONIC, at which the value was read.
    `metric`: dotted name, such as "cpu.time"; docs/metrics.md defines it.
    `labels`: what it belongs to, such as {"cpu": "1", "kind": "softirq"}.
    `value`: None when unknown, then `reason` says why; never 0 for unknown.
    `unit`: "s", "B", "1" (a count), "Hz".
    `source`: where it was read, such as "/proc/stat" or "tracepoint irq:softirq_exit".
    """

    time: float
    metric: str
    labels: dict[str, str]
    value: float | None
    unit: str
    kind: Kind
    source: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Metric:
    """What all samples of one metric have in common; docs/metrics.md defines each."""

    name: str
    unit: str
    kind: Kind
    source: str

    def sample(self, time: float, value: float, /, **labels: str) -> Sample:
        """A known value, read at `time`."""
        return Sample(time, self.name, labels, float(value), self.unit, self.kind, self.source)

    def unknown(self, time: float, reason: str, /, **labels: str) -> Sample:
        """A value that could not be read at `time`, and why."""
        return Sample(time, self.name, labels, None, self.unit, self.kind, self.source, reason)
