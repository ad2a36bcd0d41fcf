"""The values of one figure of one system by round: one side of a comparison."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from stackcost.analysis.spread import Spread


@dataclass(frozen=True, slots=True)
class Series:
    """The values of one figure of one system, as in the tables.

    `rounds`: values by round and by offered load. `is_rate`: a higher cost makes the figure
    lower, as with connections/s. `is_given`: it is a required number, not a measured one.
    `numbered`: the keys are the rounds of the run; otherwise they only count the values, and two
    series have no rounds in common. `reason`: why there are no values, if there are none.
    """

    unit: str
    rounds: Mapping[int, Mapping[float, float]]
    is_rate: bool = False
    is_given: bool = False
    numbered: bool = True
    reason: str = ""

    @classmethod
    def of(
        cls,
        values: Mapping[int, float | None],
        unit: str,
        reason: str = "",
        is_rate: bool = False,
    ) -> Self:
        """From one value per round, all at the same load. None values are left out."""
        rounds = {number: {0.0: value} for number, value in values.items() if value is not None}
        return cls(unit, rounds, is_rate, reason=reason)

    @classmethod
    def of_spread(cls, spread: Spread, is_rate: bool = False) -> Self:
        """From a figure of a summary; values without rounds count from 1."""
        found = cls.of(dict(spread.by_round()), spread.unit, spread.reason, is_rate)
        return replace(found, numbered=bool(spread.rounds))

    @classmethod
    def given(cls, number: float, rounds: Sequence[int], unit: str, is_rate: bool = False) -> Self:
        """A required number, to be compared with values measured in these rounds."""
        same = {each: {0.0: number} for each in rounds}
        return cls(unit, same, is_rate, is_given=True)

    @property
    def loads(self) -> list[float]:
        """The loads at which it was observed, in the order of the first round that had each."""
        return list(dict.fromkeys(load for trials in self.rounds.values() for load in trials))
