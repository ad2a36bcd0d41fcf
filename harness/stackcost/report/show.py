"""Shows results in a notebook: sentences, tables and figures, each in a uniform way.

The content of a stored run is shown only as text. Jupyter trusts the output of its own kernel, so
a script in it would run with the rights of the user who opened the notebook.
"""

import re
from dataclasses import dataclass
from math import isnan
from numbers import Real

from IPython.display import HTML, display
from matplotlib.figure import Figure
from pandas import DataFrame

from stackcost.report.plain import cell_html, sentences_html
from stackcost.report.plots import as_svg
from stackcost.report.plots.flame import Drawing
from stackcost.report.text_table import TextTable
from stackcost.report.words import number


@dataclass(frozen=True, slots=True)
class Sentences:
    """Text with the few marks of Markdown that `stackcost.report.plain` knows."""

    data: str

    def _repr_html_(self) -> str:
        return sentences_html(self.data)


def show(*things: str | TextTable | DataFrame | Figure | Drawing | None) -> None:
    """Text as sentences, a table as HTML, a figure as inline SVG; None, empty text and empty tables
    are left out, so that a cell may show things that only some runs have. A table with only unknown
    values is shown as a sentence.
    """
    for thing in things:
        if isinstance(thing, str) and thing:
            display(Sentences(thing))  # type: ignore[no-untyped-call]
        elif isinstance(thing, Figure):
            display(HTML(as_svg(thing)))  # type: ignore[no-untyped-call]
        elif isinstance(thing, Drawing):
            display(Sentences(thing.title))  # type: ignore[no-untyped-call]
            scrolled = f'<div style="overflow-x:auto">{thing.svg}</div>'
            display(HTML(scrolled))  # type: ignore[no-untyped-call]
        elif isinstance(thing, DataFrame) and len(thing):
            display(HTML(as_html(titled("", thing))))  # type: ignore[no-untyped-call]
        elif isinstance(thing, TextTable) and thing.sentence:
            display(Sentences(thing.sentence))  # type: ignore[no-untyped-call]
        elif isinstance(thing, TextTable) and thing.rows:
            display(HTML(as_html(thing)))  # type: ignore[no-untyped-call]


def titled(title: str, frame: DataFrame) -> TextTable:
    """A table of pandas as text under a title, without its index; unknown values are "n/a"."""

    def words(value: object) -> str:
        if isinstance(value, str | bool) or not isinstance(value, Real):
            return str(value)
        return number(None if isnan(value) else float(value))

    rows = [tuple(map(words, row)) for row in frame.itertuples(index=False, name=None)]
    return TextTable(title, tuple(map(str, frame.columns)), rows)


RANGE, NAME = r"\(?\d[\d.,]*-\d[\d.,]*\)?", r"[^\s/-]+[-/]\S+"


def _cells(row: tuple[str, ...]) -> str:
    """A row's cells; a range, and a name in the first, are not broken at a hyphen or a slash."""
    whole = r'<span class="whole">\g<0></span>'
    texts = (
        re.sub(RANGE if place else NAME, whole, cell_html(cell)) for place, cell in enumerate(row)
    )
    return "".join(f"<td>{text}</td>" for text in texts)


def as_html(table: TextTable) -> str:
    """A table with its title as caption; every cell is text, never markup."""
    table = table.brief()
    head = "".join(f'<th scope="col">{cell_html(column)}</th>' for column in table.columns)
    rows = "".join(f"<tr>{_cells(row)}</tr>" for row in table.rows)
    caption = f"<caption>{cell_html(table.title)}</caption>"
    style = 'style="text-align:left"'
    body = f"<thead><tr {style}>{head}</tr></thead><tbody>{rows}</tbody>"
    return f"<table {style}>{caption}{body}</table>"
