"""What every `summary.json` has, whatever kind of run it is the answer of."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from stackcost.analysis.spread import Spread
from stackcost.contracts.load import ESTABLISHED

State = Literal["complete", "interrupted"]


class SummaryPart(BaseModel):
    """A part of a summary; written once, never changed."""

    model_config = ConfigDict(frozen=True)


class Definition(SummaryPart):
    """The definition of a figure: its unit, its computation, and the source of its parts.

    `own`: a collector of the user's own brought it.
    """

    unit: str
    definition: str
    source: str
    own: bool = False


# Figures that more than their own table reads: the cost of a connection, by kind and in all.
COST, COST_BY_KIND = "server_cpu_total", "server_cpu"


class Figures(SummaryPart):
    """Figures by name: "server_cpu_total", or with the kind after a dot, "server_cpu.softirq".

    `definitions` of the summary say what each of them is.
    """

    figures: dict[str, Spread]

    def __getitem__(self, name: str) -> Spread:
        """The figure of this name. KeyError if this system has none."""
        return self.figures[name]

    def __contains__(self, name: str) -> bool:
        return name in self.figures

    def kinds(self, name: str) -> dict[str, Spread]:
        """The figures below this name by their kind: of "server_cpu" those of "user", "system"."""
        start = f"{name}."
        return {
            full.removeprefix(start): spread
            for full, spread in self.figures.items()
            if full.startswith(start)
        }


class Flagged(NamedTuple):
    """A trial that figures use: of which system, and the reasons to doubt it."""

    system: str
    flags: list[str]


class SystemFigure(NamedTuple):
    """One figure of one system. `figure`: as in the summary, "server_cpu.softirq".

    `at`: the offered load, 1/s; None where there is none, and `of` then says of what it is: of open
    flows, searches, an event. `case`: the test of HTTP clients, the state in which flows were held,
    the event, or "half" of mixed traffic at half load; empty for other loads. `quoted`: whether it
    is at the load whose cost the report quotes, or of memory that is in its total.
    `past_ceiling`: the first sign that the load was not held.
    """

    system: str
    figure: str
    at: float | None
    spread: Spread
    of: str = ""
    case: str = ""
    quoted: bool = True
    past_ceiling: str = ""

    @property
    def name(self) -> str:
        """With its case, such as "rps-1k: http.rate"; established flows are the usual case."""
        return self.figure if self.case in ("", ESTABLISHED) else f"{self.case}: {self.figure}"


class Head(SummaryPart):
    """`format`: which kind of summary, and its version. `run`: the folder's name.

    `state`: "complete", or "interrupted" when it ended before its last trial. `basis`: digest of
    what it was computed from, the program and the stored files; see `report.results.computed`.
    `damaged`: in words, what of the stored trials cannot be read; it is in no figure.
    `definitions`: what each figure is, by its name.
    """

    format: str
    run: str
    title: str
    state: State
    machine: dict[str, Any]
    basis: str = ""
    damaged: list[str] = Field(default_factory=list)
    definitions: dict[str, Definition] = Field(default_factory=dict)

    @property
    @abstractmethod
    def systems(self) -> list[str]:
        """The names of the systems that have figures."""

    @abstractmethod
    def system_figures(self) -> Iterator[SystemFigure]:
        """All figures of all systems, in the order of the summary."""

    @abstractmethod
    def used_trials(self) -> Iterator[Flagged]:
        """The trials that its figures use, with their flags."""


def definition(name: str, definitions: Mapping[str, Definition]) -> Definition | None:
    """What a figure is: the definition of its name, or of the longest beginning of it."""
    parts = name.rpartition(": ")[2].split(".")
    for length in range(len(parts), 0, -1):
        if found := definitions.get(".".join(parts[:length])):
            return found
    return None
