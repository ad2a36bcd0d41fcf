"""One load at one setting against one system, and what was seen."""

from dataclasses import dataclass, field
from typing import Any

from stackcost.contracts.sample import Sample


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
