"""What is measured, as data: samples, windows and trials. Nothing here reads a machine."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Self


class Kind(StrEnum):
    """How a metric's values over time are to be read."""

    COUNTER = "counter"  # only grows: a window's figure is last - first
    GAUGE = "gauge"  # a level: a window's figure is its median


@dataclass(frozen=True, slots=True)
class Sample:
    """One value of one metric at one moment.

    `time`: seconds of CLOCK_MONOTONIC, at which the value was read.
    `metric`: dotted name, such as "cpu.time"; its definition stands in docs/figures.md.
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
    """What all samples of one metric have in common; docs/figures.md defines each."""

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


class Collector(ABC):
    """Reads one source of figures; it never changes what it measures.

    `name`: for messages. `metrics`: every metric it may yield. `read` returns samples stamped with
    the moment of reading. It is called at both edges of the sustain window and periodically
    between. When `start` or `read` raises, the sampler records each of `metrics` as unknown with
    the error as its reason, and goes on; so a collector raises StackcostError for a source that
    this machine does not have.
    """

    name: str
    metrics: tuple[Metric, ...]

    def start(self) -> None:
        """Begin, for sources that need a process or a descriptor; files of /proc need nothing."""
        return

    @abstractmethod
    def read(self) -> list[Sample]:
        """All current values."""

    def stop(self) -> None:
        """End and give back everything `start` took; must work when `start` failed."""
        return

    def __enter__(self) -> Self:
        """For who reads one collector by itself: started here, stopped on exit."""
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


@dataclass(frozen=True, slots=True)
class Window:
    """A span of CLOCK_MONOTONIC seconds to which every series is cut."""

    start: float
    end: float

    @property
    def length(self) -> float:
        """Seconds."""
        return self.end - self.start


@dataclass(slots=True)
class Trial:
    """One load at one setting against one server, and what was seen.

    `phases`: windows by name ("warm-up", "sustain", "drain").
    `load`: offered load and what the generator says of it at the end (TRex counter names).
    `flags`: reasons to distrust the trial, such as "generator above 80 % busy"; empty is good.
    `set_aside`: why it is kept and shown but in no figure, such as "cut short"; empty for most.
    """

    server: str
    number: int
    offered_cps: float
    phases: dict[str, Window] = field(default_factory=dict)
    load: dict[str, Any] = field(default_factory=dict)
    samples: list[Sample] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    set_aside: str = ""


Where = Literal["namespace", "machine", "server"]


@dataclass(frozen=True, slots=True)
class Change:
    """What became of one setting of a tuning tier. `before` and `after` are read, not assumed.

    `where`: "namespace" of the server, the whole "machine", or the "server" program's own
    configuration. `reason`: why the wanted value is not in force; empty when it is.
    """

    setting: str
    where: Where
    wanted: str
    before: str | None
    after: str | None
    source: str
    reason: str = ""
