"""One value of one metric at one moment, and what all values of a metric have in common."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple, overload


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


class DeferredSamples(Sequence[Sample]):
    """Samples that are made when somebody looks at them, once.

    Collectors run on the generator's core. What they read in a trial is as small as it can be, and
    samples are made of it when the trial is over. `parts`: by the metrics that they have, each
    makes some of the samples; none may fail.
    """

    def __init__(self, parts: Mapping[tuple[Metric, ...], Callable[[], Iterable[Sample]]]):
        self._parts = parts

    @cached_property
    def _made(self) -> list[Sample]:
        return [sample for make in self._parts.values() for sample in make()]

    def of(self, names: Collection[str]) -> Iterator[Sample]:
        """Samples of the parts that have one of these metrics; no other is made, none is kept."""
        for metrics, make in self._parts.items():
            if any(each.name in names for each in metrics):
                yield from make()

    def __len__(self) -> int:
        return len(self._made)

    def __iter__(self) -> Iterator[Sample]:
        return iter(self._made)

    @overload
    def __getitem__(self, index: int) -> Sample: ...
    @overload
    def __getitem__(self, index: slice) -> list[Sample]: ...
    def __getitem__(self, index: int | slice) -> Sample | list[Sample]:
        return self._made[index]
