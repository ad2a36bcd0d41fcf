"""The interface of collectors, which read figures of a machine or a program during a trial."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field

from stackcost.contracts.sample import Metric, Sample

# "warm-up" of a load; "held": flows are opened and held, until memory has been read.
Phase = Literal["warm-up", "held"]


class CollectedFigure(BaseModel):
    """A figure of each load that a collector brings with it: one of its metrics, cut to the sustain
    window. It is data, so a stored run has it without the collector's code.

    `name`: as in tables, such as "disk.writes". `unit`: of the values times `factor`. `definition`:
    what is counted, and per what. `source`: where it is read. `metric`: the collector's. `per`: the
    growth of a counter (the level of a gauge) is divided by the completed connections, by the
    seconds of the window, or (empty) by nothing. `by`: a label of the metric; each of its values
    becomes a kind of the figure. Empty: the sum over all labels.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=r"^[^.:]+(\.[^.:]+)*$")
    unit: str = Field(min_length=1)
    definition: str = Field(min_length=1)
    source: str = Field(min_length=1)
    metric: str = Field(min_length=1)
    per: Literal["connection", "second", ""] = "connection"
    by: str = ""
    factor: float = 1.0


class Collector(ABC):
    """Reads one source of figures; it never changes what it measures.

    `name`: for messages. `metrics`: every metric it may yield. `read` returns samples stamped with
    the moment of reading. It is called at both edges of the sustain window and periodically
    between. When `start` or `read` raises, the sampler records each of `metrics` as unknown with
    the error as its reason, and goes on; so a collector raises StackcostError for a source that
    this machine does not have. `often`: it is read ten times a second under load, too, so that
    slices of time that neighbours left undisturbed can be told from others.
    """

    name: str
    metrics: tuple[Metric, ...]
    often = False

    def start(self) -> None:
        """Begin, for sources that need a process or a descriptor; files of /proc need nothing."""
        return

    @abstractmethod
    def read(self) -> Sequence[Sample]:
        """All current values; `DeferredSamples` where samples take long to make."""

    def in_phase(self, phase: Phase, on: bool) -> list[Sample]:
        """Begin or end what is read in this phase of a trial only, because it slows the server.

        Returns what was read, when the phase ends.
        """
        return []

    def stop(self) -> None:
        """End and release everything that `start` acquired; must also work if `start` failed."""
        return

    def __enter__(self) -> Self:
        """A context manager for a single collector: starts it on entry and stops it on exit."""
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class Reading(NamedTuple):
    """What was read at one moment. `collector`: which read it; None: those of another host."""

    collector: Collector | None
    samples: Sequence[Sample]


@dataclass(frozen=True, slots=True)
class MeasuredServer:
    """What a collector of the user's own may read. `namespace`: the server's, by its name. `cpus`:
    the server's cores. `processes`: process ids of the server and its stack by role.
    """

    namespace: str
    cpus: tuple[int, ...]
    processes: Callable[[], Mapping[str, int]]


class OwnCollector(Collector):
    """A collector in a file of the user's own, which an experiment names in `collectors`.

    `figures`: what each load has of its metrics; see `CollectedFigure`.
    """

    figures: tuple[CollectedFigure, ...] = ()

    def __init__(self, server: MeasuredServer):
        self.server = server
