"""How a figure is declared, and how its values come from trials.

A figure is declared once, beside its calculation. The summary, its schema, the tables, the export,
the comparison, the trend and `docs/figures.md` are made from the declarations.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, NamedTuple, TypeAlias, TypeVar

from stackcost.analysis.spread import Spread, spread

Of = Literal["load", "http", "memory", "pair", "device", "event", "ceiling", "gate"]
# Units of figures that fall by what costs rise by.
RATES = ("1/s", "bit/s", "connections/s", "requests/s", "open flows", "mixed flows/s")


class Values(NamedTuple):
    """One value for each round, None where it is unknown; `reason`: why, if all are unknown."""

    each: Sequence[float | None]
    rounds: Sequence[int]
    reason: str = ""


Found: TypeAlias = Values | Mapping[str, Values]
Trials = TypeVar("Trials", contravariant=True)


@dataclass(frozen=True, kw_only=True)
class Declared:
    """What a figure is. ValueError if one of its four words is missing.

    `name`: as in the summary, such as "server_cpu". `unit`: of its values. `definition`: what is
    counted or computed, and per what. `source`: where its parts are read.
    `of`: of what it is a figure: each load, each test of HTTP clients, flows held open, a pair of
    systems, a device under test, an event at one, searches for a ceiling, or the gate.
    `kinds`: the definitions and sources of its kinds, where they differ from its own: the
    kind "user" of "server_cpu" is the figure "server_cpu.user".
    `judged`: whether a comparison judges it, and a trend shows it. Other figures explain the judged
    ones; to judge them, too, would only make the test less sensitive. `table`: of a load's figure,
    the table of `import stackcost` and of the report that has it. `of_trials`: of a load's figure,
    whether each trial is told its value, too.
    """

    name: str
    unit: str
    definition: str
    source: str
    of: Of
    kinds: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    judged: bool = False
    table: Literal["loads", "costs", "why", "latency"] = "loads"
    of_trials: bool = False

    def __post_init__(self) -> None:
        for word in ("name", "unit", "definition", "source"):
            if not getattr(self, word):
                raise ValueError(f"the figure {self.name!r} has no {word}")


@dataclass(frozen=True, kw_only=True)
class Figure(Declared, Generic[Trials]):
    """A figure with its calculation.

    `compute`: from the trials of one system at one load (or of its held flows, its searches, an
    event) to the values of all rounds, or to those of each kind. A figure with kinds has none where
    it does not apply. None: the figure does not apply.
    """

    compute: Callable[[Trials], Found | None]

    def spreads(self, trials: Trials) -> dict[str, Spread]:
        """The spread of each of its names; empty where the figure does not apply."""
        found = self.compute(trials)
        if found is None:
            return {}
        if isinstance(found, Values):
            return {self.name: self._spread(found)}
        return {f"{self.name}.{kind}": self._spread(each) for kind, each in found.items()}

    def _spread(self, values: Values) -> Spread:
        return spread(values.each, self.unit, values.reason, values.rounds)
