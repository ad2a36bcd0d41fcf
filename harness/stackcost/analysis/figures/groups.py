"""The values of figures, from the trials of one load or from lines through memory."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from stackcost.analysis.context import Context
from stackcost.analysis.cost.core_time import Cost
from stackcost.analysis.figures.figure import Values
from stackcost.analysis.memory.memory import Line
from stackcost.analysis.readings import Readings

Read = Callable[[Readings], float | None]
KindsOf = Callable[[Readings], Cost]


@dataclass(frozen=True)
class Group:
    """Trials whose values are one figure."""

    trials: Sequence[Readings]

    @property
    def rounds(self) -> list[int]:
        """The round of each trial."""
        return [readings.trial.round for readings in self.trials]

    def each(self, read: Read, reason: str = "") -> Values:
        """One value of each trial."""
        return Values([read(readings) for readings in self.trials], self.rounds, reason)

    def of_each(
        self, found: Sequence[Mapping[str, float | None]], reason: str = ""
    ) -> dict[str, Values]:
        """From what was found in each trial by kind; a kind that a trial lacks is unknown there."""
        kinds = dict.fromkeys(kind for each in found for kind in each)
        return {
            kind: Values([each.get(kind) for each in found], self.rounds, reason) for kind in kinds
        }

    def first_reason(self, why: Callable[[Readings], str]) -> str:
        """The first reason that a trial gives; empty if none has one."""
        return next((reason for readings in self.trials if (reason := why(readings))), "")


@dataclass(frozen=True)
class LoadTrials(Group):
    """All trials of one system at one offered load. `test`: of HTTP clients; else empty."""

    context: Context
    test: str = ""

    @property
    def load_cpus(self) -> tuple[int, ...]:
        """The generator's cores; empty if it is on another host."""
        return self.context.load_cpus

    @property
    def is_http(self) -> bool:
        """Whether HTTP clients made the load and told their settings."""
        return any(readings.trial.traffic.http_settings for readings in self.trials)

    def by_kind(self, cost: KindsOf, reason: str = "") -> dict[str, Values]:
        """One value of each trial, of every kind that any of them has."""
        return self.of_each([cost(readings) for readings in self.trials], reason)


def of_lines(fitted: Mapping[int, Mapping[str, Line]], part: str) -> dict[str, Values]:
    """A part of every line by name: "slope", "intercept" or "r_squared"."""
    names = dict.fromkeys(name for found in fitted.values() for name in found)
    return {
        name: Values(
            [getattr(found[name], part) if name in found else None for found in fitted.values()],
            list(fitted),
        )
        for name in names
    }
