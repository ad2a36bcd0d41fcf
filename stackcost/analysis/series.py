"""A figure of one system by round: what one side of a comparison is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

from stackcost.analysis.spread import Spread


class Observation(NamedTuple):
    """A figure in one trial, and how the host was meanwhile.

    `value`: the figure as tables show it. The value of a cost is that of the slices of time that
    neighbours on the host left free, where these are known. `load_time`, `call_time`: what a load
    from shared memory, and a pair of known system calls, took on the server's cores in the whole
    trial, in any unit; None: not read. `whole`: the figure of the whole trial, with all that
    neighbours added; None where there is none beside `value`.
    """

    value: float
    load_time: float | None = None
    call_time: float | None = None
    whole: float | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """A figure of one system.

    `rounds`: by round, and in a round by the offered load, what was observed. `is_rate`: what
    makes a connection dearer makes the figure lower, as of connections/s. `is_given`: it is a
    number that somebody asked for, and was not measured. `numbered`: the rounds are those of the
    run; else they are the values in order, of which no two series have one in common. `reason`: why
    nothing is known, if nothing is.
    """

    unit: str
    rounds: Mapping[int, Mapping[float, Observation]]
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
        """From a value by round that the host has no part in; a round without one (None) is left
        out.
        """
        known = {number: value for number, value in values.items() if value is not None}
        return cls.of_trials(
            {number: Observation(value) for number, value in known.items()}, unit, reason, is_rate
        )

    @classmethod
    def of_trials(
        cls,
        trials: Mapping[int, Observation],
        unit: str,
        reason: str = "",
        is_rate: bool = False,
    ) -> Self:
        """From a trial by round, all at one load."""
        rounds = {number: {0.0: trial} for number, trial in trials.items()}
        return cls(unit, rounds, is_rate, reason=reason)

    @classmethod
    def of_spread(cls, spread: Spread, is_rate: bool = False) -> Self:
        """From a figure of a summary, of which the rounds may not have been written down."""
        rounds = spread.rounds or range(1, len(spread.values) + 1)
        values = dict(zip(rounds, spread.values, strict=True))
        found = cls.of(values, spread.unit, spread.reason, is_rate)
        return replace(found, numbered=bool(spread.rounds))

    @classmethod
    def given(cls, number: float, rounds: Sequence[int], unit: str, is_rate: bool = False) -> Self:
        """A number that is asked for, to be compared with what was measured in these rounds."""
        same = {each: {0.0: Observation(number)} for each in rounds}
        return cls(unit, same, is_rate, is_given=True)

    @property
    def loads(self) -> list[float]:
        """The loads at which it was observed, in the order of the first round that had each."""
        return list(dict.fromkeys(load for trials in self.rounds.values() for load in trials))
