"""Shows answers in a notebook: sentences, tables and figures, each in one way."""

import re
from html import escape

from IPython.display import HTML, Markdown, display
from matplotlib.figure import Figure

from harness.report.plots import as_svg
from harness.report.tables import TextTable


def show(*things: str | TextTable | Figure | None) -> None:
    """Text as Markdown, a table as HTML, a figure as inline SVG; None, empty text and empty tables
    are left out, so that a cell may name what only some runs have. A table in which nothing is
    known is one sentence.
    """
    for thing in things:
        if isinstance(thing, str) and thing:
            display(Markdown(thing))  # type: ignore[no-untyped-call]
        elif isinstance(thing, Figure):
            display(HTML(as_svg(thing)))  # type: ignore[no-untyped-call]
        elif isinstance(thing, TextTable) and thing.sentence:
            display(Markdown(thing.sentence))  # type: ignore[no-untyped-call]
        elif isinstance(thing, TextTable) and thing.rows:
            display(HTML(as_html(thing)))  # type: ignore[no-untyped-call]


def _cell(text: str) -> str:
    """A cell's text; a range is not broken at its hyphen."""
    return re.sub(r"\(?\d[\d.,]*-\d[\d.,]*\)?", r'<span class="whole">\g<0></span>', escape(text))


def as_html(table: TextTable) -> str:
    """A table with its title as caption; every cell is text, never markup."""
    head = "".join(f"<th>{escape(column)}</th>" for column in table.columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{_cell(cell)}</td>" for cell in row) + "</tr>" for row in table.rows
    )
    caption = f"<caption>{escape(table.title)}</caption>"
    style = 'style="text-align:left"'
    body = f"<thead><tr {style}>{head}</tr></thead><tbody>{rows}</tbody>"
    return f"<table {style}>{caption}{body}</table>"
