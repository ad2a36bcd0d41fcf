"""Published tables as data: what others measured, each number as it is printed, with its place.

One file of published/ is one publication. A table's row begins with its `x` (a number or words),
then has a value for each of `columns`, then, where gains are printed, one for each column but
the first of those: percent over the column `gains_over`.
"""

from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from ruamel.yaml import YAML

from stackcost.files import PUBLISHED

Cell = float | str | None
# What a table measures, so that a run of our own can be told to be of the same shape.
Shape = Literal["connections", "requests", "throughput", "latency"]


class PublishedTable(BaseModel):
    """One table. `page`: where it stands; `better`: which way its values improve, where they do.

    `shape`: None for a table that is no measurement over `x`, and is shown without a plot.
    `unit_size`: one of `unit` in the unit that a figure of ours has (connections/s, requests/s,
    Gb/s of 10^9 bits, us). `notes`: where the print contradicts itself, and what was made of it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    page: str
    title: str
    x: str
    columns: list[str]
    rows: list[list[Cell]]
    unit: str = ""
    unit_size: float = Field(default=1.0, gt=0)
    notes: list[str] = []
    shape: Shape | None = None
    response_bytes: int | None = None
    better: Literal["higher", "lower"] | None = None
    gains_over: str | None = None

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        wanted = 1 + len(self.columns) + (len(self.columns) - 1 if self.gains_over else 0)
        for row in self.rows:
            if len(row) != wanted:
                raise ValueError(f"{self.name}: a row has {len(row)} cells, not {wanted}: {row}")
        return self

    @property
    def headings(self) -> list[str]:
        """A name for every cell of a row."""
        gains = [name for name in self.columns if name != self.gains_over]
        return [
            self.x,
            *self.columns,
            *(f"{name} over {self.gains_over}, %" for name in gains if self.gains_over),
        ]

    def points(self, column: str) -> list[tuple[float, float]]:
        """(x, value) of a column, where both are numbers."""
        at = 1 + self.columns.index(column)
        cells = ((row[0], row[at]) for row in self.rows)
        return [
            (float(x), float(value))
            for x, value in cells
            if isinstance(x, float | int) and isinstance(value, float | int)
        ]


class Document(BaseModel):
    """One publication's tables. `conditions`: what they were measured on and with, in short.

    `system`: what its tables with a shape measure, as the first part of a system's name here.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)  # one has the raw data of factors too

    title: str
    source: str
    system: str
    conditions: str = ""
    tables: list[PublishedTable]


def read_document(path: Path) -> Document:
    """A file of published/. ValidationError names what is wrong in it."""
    return Document.model_validate(YAML(typ="safe").load(path.read_text()))


def documents(folder: Path = PUBLISHED) -> dict[str, Document]:
    """All publications, by the name of their file."""
    return {path.stem: read_document(path) for path in sorted(folder.glob("*.yaml"))}
