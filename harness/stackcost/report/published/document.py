"""Published tables as data: what others measured, each number as it is printed, with its place.

One file of published/ is one publication. A table's row begins with its `x` (a number or words),
then has a value for each of `columns`, then, where gains are printed, one for each column but
the first of those: percent over the column `gains_over`.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from ruamel.yaml import YAML

from stackcost.contracts.http import RSA, Certificate, HttpVersion
from stackcost.files import PUBLISHED

Cell = float | str | None
# What is measured: connections/s, requests/s, Gb/s of 10^9 bits, millions of packets/s (both ways),
# us (of the 99th percentile; a distribution has them by percentile), bytes per open flow; the cores
# for a line and the bytes of its flows, by the line's Gb/s of payload; how many times one system's
# cost is that of another one.
Shape = Literal[
    "connections",
    "requests",
    "throughput",
    "packets",
    "latency",
    "distribution",
    "distribution of connect",
    "distribution of first byte",
    "memory",
    "cores",
    "line memory",
    "cpu factor",
    "memory factor",
]
Load = Literal["HTTP clients", "ASTF profile"]
# Fields of `Measurement` in which a figure of ours may differ from the published one beside it. Its
# cell then says so and has no ratio.
MARKED = ("tcp", "network", "reuseport", "beside")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Measurement(_Part):
    """What a figure is of. A figure of ours joins a published one only if all of this is equal, but
    for the fields in `MARKED`, and for connections where the print does not say how many.

    `system`: a system's name here, such as "nginx/kernel". `load`: what loads it. `axis`: what the
    figure's x counts, such as "worker processes"; empty for a figure without one.
    `response_bytes`: of each length that was requested, without headers if HTTP clients request it,
    with headers if an ASTF profile does. `tls`: whether over TLS; then with a full handshake by a
    key of the kind `certificate`, unless it is `resumed`. `version`: of HTTP. `tcp`: the settings
    of an ASTF profile's TCP (`workload.tcp`). `network`: loss, delay and the like of the link, in
    words. `reuseport`: whether each worker of nginx has a listening socket. `beside`: lengths that
    other HTTP clients request meanwhile. `connections`: of each process of HTTP clients; 0: not
    told.
    """

    system: str
    shape: Shape
    load: Load = "HTTP clients"
    axis: str = ""
    response_bytes: tuple[int, ...] = ()
    tls: bool = False
    certificate: Certificate = RSA
    resumed: bool = False
    version: HttpVersion = "1.1"
    tcp: str = ""
    network: str = ""
    reuseport: bool = True
    beside: tuple[int, ...] = ()
    connections: int = 0

    def joins(self, own: "Measurement") -> bool:
        """Whether a figure of ours may stand beside a published one of this."""
        fields = type(self).model_fields.keys() - {*MARKED, "connections"}
        same = all(getattr(self, name) == getattr(own, name) for name in fields)
        return same and self.connections in (0, own.connections)


class PublishedFigure(_Part):
    """One printed number that a measurement of ours may join, in the table's own `unit`.

    `unit_size`: one of `unit` in the unit of `Shape`. `share`: `x` by the column's ceiling, where
    that is known.
    """

    of: Measurement
    table: str
    column: str
    x: float | None
    value: float
    unit: str
    unit_size: float
    share: float | None = None


class RowFigure(Measurement):
    """A row of a table in words that is a figure by itself.

    `x`: on `axis`; several places if the print says that the number holds at each of them.
    """

    x: float | list[float] | None = None
    unit: str
    unit_size: float = Field(default=1.0, gt=0)


class PublishedTable(_Part):
    """One table. `page`: where it stands; `better`: which way its values improve, where they do.

    `shape`: None for a table that is no measurement over `x`, and is shown without a plot.
    `shapes`: of columns that have another one than `shape`.
    `unit_size`: one of `unit` in the unit that a figure of ours has (connections/s, requests/s,
    Gb/s of 10^9 bits, us). `figures`: rows of such a table that are figures, by their first cell.
    `beside`: as of `Measurement`. `tls`: None where the print says both; then figures of ours with
    and without TLS join.
    `ceilings`: the highest x that a column holds by the text; a figure of ours at the same share of
    its own ceiling stands beside the column's, so that the shapes are compared.
    `notes`: where the print contradicts itself, and what was made of it.
    `here`: where this suite has what cannot be joined, and why it cannot.
    """

    name: str
    page: str
    title: str
    x: str
    columns: list[str]
    rows: list[list[Cell]]
    unit: str = ""
    unit_size: float = Field(default=1.0, gt=0)
    notes: list[str] = []
    here: str = ""
    shape: Shape | None = None
    shapes: dict[str, Shape] = {}
    response_bytes: int | tuple[int, ...] = 0
    beside: tuple[int, ...] = ()
    tls: bool | None = False
    better: Literal["higher", "lower"] | None = None
    gains_over: str | None = None
    ceilings: dict[str, float] = {}
    figures: dict[str, RowFigure] = {}

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        wanted = 1 + len(self.columns) + (len(self.columns) - 1 if self.gains_over else 0)
        for row in self.rows:
            if len(row) != wanted:
                raise ValueError(f"{self.name}: a row has {len(row)} cells, not {wanted}: {row}")
        numbers = {row[0] for row in self.rows if isinstance(row[1], float | int)}
        if unknown := self.figures.keys() - numbers:
            raise ValueError(f"{self.name}: figures of rows without a number: {unknown}")
        return self

    @property
    def lengths(self) -> tuple[int, ...]:
        """Of the responses."""
        one = self.response_bytes
        return (one,) if isinstance(one, int) else one

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

    `systems`: what its tables with a shape measured, by column, as a system's name here.
    `connections`: of each process of HTTP clients in these; 0: the print does not say.
    `measured_by`: the commands that measure the same here.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)  # one has the raw data of factors too

    title: str
    source: str
    conditions: str = Field(min_length=1)
    measured_by: str
    systems: dict[str, str] = {}
    connections: int = Field(default=0, ge=0)
    tables: list[PublishedTable]

    @model_validator(mode="after")
    def _names_its_systems(self) -> Self:
        for table in self.tables:
            if table.shape and (unknown := set(table.columns) - self.systems.keys()):
                raise ValueError(f"{table.name}: no system is given for the columns {unknown}")
        return self

    def figures(self, table: PublishedTable) -> Iterator[PublishedFigure]:
        """Every number of a table that a measurement of ours may join, column by column."""
        if table.shape:
            for column in table.columns:
                for tls in (False, True) if table.tls is None else (table.tls,):
                    of = Measurement(
                        system=self.systems[column],
                        shape=table.shapes.get(column, table.shape),
                        axis=table.x,
                        response_bytes=table.lengths,
                        tls=tls,
                        beside=table.beside,
                        connections=self.connections,
                    )
                    ceiling = table.ceilings.get(column)
                    for x, value in table.points(column):
                        yield PublishedFigure(
                            of=of,
                            table=table.name,
                            column=column,
                            x=x,
                            value=value,
                            unit=table.unit,
                            unit_size=table.unit_size,
                            share=x / ceiling if ceiling else None,
                        )
        for row in table.rows:
            if own := table.figures.get(str(row[0])):
                of = Measurement(**{name: getattr(own, name) for name in Measurement.model_fields})
                first = row[1]
                assert isinstance(first, float | int)  # `_is_whole` has checked it
                for place in own.x if isinstance(own.x, list) else [own.x]:
                    yield PublishedFigure(
                        of=of,
                        table=table.name,
                        column=str(row[0]),
                        x=place,
                        value=first,
                        unit=own.unit,
                        unit_size=own.unit_size,
                    )


@cache
def read_document(path: Path) -> Document:
    """A file of published/. ValidationError names what is wrong in it."""
    return Document.model_validate(YAML(typ="safe").load(path.read_text()))


def documents() -> dict[str, Document]:
    """All publications, by the name of their file."""
    return {path.stem: read_document(path) for path in sorted(PUBLISHED.glob("*.yaml"))}
