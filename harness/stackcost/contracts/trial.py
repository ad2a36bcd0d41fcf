"""A trial: one load on one system with one setting, and its readings."""

import copy
from dataclasses import dataclass, field, replace
from typing import Self, TypeVar

from stackcost.contracts.counts import Clock, StackCheck, StoredData
from stackcost.contracts.load import Load, Stored
from stackcost.contracts.sample import Sample
from stackcost.contracts.window import Window

CUT_SHORT = "cut short"  # why a trial that did not come to its end is set aside
Kind = TypeVar("Kind", bound=Load)


@dataclass(slots=True)
class Trial(StoredData):
    """One load on one server with one setting, and the readings.

    `round`: of the run, from 1 on; 0 of trials before the first. `load`: its kind, what was asked
    for, and what the generator says of it at the end. `response_bytes`: length of one whole
    response as probed from the running server; None where clients ask for several.
    `phases`: windows by name ("warm-up", "sustain", "drain"; "opening", "hold"; "event"), as their
    edges were read.
    `before`: the state that the server was brought into before the trial; which figures tell it is
    up to the server, most have none. `suspended_s`: seconds in which the machine slept meanwhile.
    `stack_check`: of the server's connections. These two are None of a trial that was cut short.
    `clocks`: those of other hosts that samples came from, by the name of the host; empty of a trial
    on one machine.
    `set_aside`: why it is kept and shown but in no figure, such as CUT_SHORT; empty for most.

    All of this was seen, or done, while the trial ran. Where its warm-up ended, and reasons to
    distrust it, are found each time that it is read (`stackcost.analysis`).
    """

    server: str
    number: int
    round: int
    load: Stored
    response_bytes: int | None = None
    phases: dict[str, Window] = field(default_factory=dict)
    before: dict[str, float] = field(default_factory=dict)
    suspended_s: float | None = None
    stack_check: StackCheck | None = None
    clocks: dict[str, Clock] = field(default_factory=dict)
    samples: list[Sample] = field(default_factory=list)
    set_aside: str = ""

    @property
    def traffic(self) -> Load:
        """What was put on the system; of a step of a search, what it offered."""
        return self.load.traffic

    @property
    def offered_cps(self) -> float:
        """Connections/s, of HTTP clients requests/s; 0 where no rate is offered."""
        return self.traffic.rate

    def load_as(self, kind: type[Kind]) -> Kind | None:
        """The load, or what a step of a search offered, if it is of this kind.

        For those who need what one kind alone has; what every load answers is asked of `traffic`.
        """
        found = [load for load in (self.load, self.traffic) if isinstance(load, kind)]
        return found[0] if found else None

    def load_of(self, kind: type[Kind]) -> Kind:
        """The load of a trial that must have one of this kind."""
        found = self.load_as(kind)
        assert found is not None, f"trial {self.number} has no {kind.__name__}"
        return found

    def as_planned(self, number: int) -> Self:
        """This trial of the plan under another number; what is read in one is not in the other.

        Of a trial that has not been made yet.
        """
        return replace(self, number=number, load=copy.deepcopy(self.load), phases={})
