"""Figures with their spread, what they are to reach, and what others reach."""

import statistics
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console
from rich.table import Table

_NO_VALUE = "no value in any trial"


@dataclass(frozen=True, slots=True)
class Reference:
    """A published or measured figure of another program, in the figure's unit."""

    program: str
    value: float
    source: str  # machine and conditions


@dataclass(frozen=True, slots=True)
class Figure:
    """What is measured: `unit`, how it comes about, and what is to be reached.

    `target`: in the figure's unit, None without one. `lower_is_better`: the target is a ceiling.
    """

    name: str
    unit: str
    definition: str
    target: float | None = None
    lower_is_better: bool = False
    references: tuple[Reference, ...] = ()


@dataclass(slots=True)
class Measured:
    """The trials of one figure, in the order taken; None where one gave no value.

    `reasons`: why those did not, where the row knows it.
    """

    figure: Figure
    trials: list[float | None] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    def add(self, value: float | str) -> None:
        """The next trial's value, or why it has none."""
        if isinstance(value, str):
            self.reasons.append(f"trial {len(self.trials) + 1}: {value}")
        self.trials.append(None if isinstance(value, str) else value)

    @property
    def values(self) -> list[float]:
        """The trials that gave a value."""
        return [value for value in self.trials if value is not None]

    def to_json(self) -> dict[str, Any]:
        """Definition, every trial, median and range."""
        values = self.values
        return {
            **asdict(self.figure),
            "median": statistics.median(values) if values else None,
            "minimum": min(values, default=None),
            "maximum": max(values, default=None),
            "reason": "; ".join(self.reasons) or (None if values else _NO_VALUE),
            "reaches_target": self.reaches_target,
            "trials": self.trials,
        }

    @property
    def reaches_target(self) -> bool | None:
        """Whether the median does; None without a target or a value."""
        if self.figure.target is None or not self.values:
            return None
        median = statistics.median(self.values)
        below = median <= self.figure.target
        return below if self.figure.lower_is_better else not below or median == self.figure.target


def say(trial: int, trials: int, what: str) -> None:
    """Progress: a line for each trial, counted from 0."""
    print(f"trial {trial + 1} of {trials}: {what}", flush=True)


def report(figures: list[Measured]) -> dict[str, Any]:
    """Print the table of a row and return what goes into the file."""
    table = Table()
    for column in ("figure", "unit", "median", "range", "target", "reached", "others"):
        table.add_column(column, justify="right" if column in ("median", "target") else "left")
    for measured in figures:
        figure, values = measured.figure, measured.values
        sign = "<= " if figure.lower_is_better else ">= "
        table.add_row(
            figure.name,
            figure.unit,
            number(statistics.median(values)) if values else "unknown",
            f"{number(min(values))} - {number(max(values))}" if values else "",
            "" if figure.target is None else sign + number(figure.target),
            {True: "yes", False: "no", None: ""}[measured.reaches_target],
            "; ".join(f"{other.program}: {number(other.value)}" for other in figure.references),
        )
    Console(width=None if Console().is_terminal else 160).print(table)
    return {"figures": [measured.to_json() for measured in figures]}


def number(value: float | None) -> str:
    """Large numbers whole, small ones with three digits."""
    if value is None:
        return "unknown"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
