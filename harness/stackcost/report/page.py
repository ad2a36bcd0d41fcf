"""Puts an executed notebook together as a page: what it is about and its answer stand there, each
question below is folded, and so are its parts. A part without results is left out.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

import nbformat
from jinja2 import Environment
from markupsafe import Markup
from nbconvert import HTMLExporter

PAGE = Path(__file__).with_name("page.html.j2")
QUESTION = "question"  # in a cell's metadata: the notebook that it is of


@dataclass
class Part:
    """A heading of a notebook, with its `level`, and the cells up to the next one."""

    title: str
    level: int
    cells: list[Any] = field(default_factory=list)
    body: str = ""

    @property
    def has_results(self) -> bool:
        """Whether its code shows anything."""
        return any(cell.cell_type == "code" and cell.outputs for cell in self.cells)

    @property
    def is_text(self) -> bool:
        """Whether it has text and no code."""
        return bool(self.cells) and all(cell.cell_type != "code" for cell in self.cells)


@dataclass
class Chapter:
    """The parts of one notebook; the first one has its question and its answer."""

    name: str
    parts: list[Part]


def as_page(executed: nbformat.NotebookNode, title: str) -> str:
    """The notebook's text and outputs, without its code, in the suite's own page."""
    exporter = _exporter()
    first = [cell for cell in executed.cells if QUESTION not in cell.metadata]
    chapters = list(_chapters(executed.cells))
    for chapter in chapters:
        for part in chapter.parts:
            part.body = _html(exporter, executed, part.cells)
    template = Environment(autoescape=True, trim_blocks=True).from_string(PAGE.read_text())
    return template.render(
        title=f"stackcost {title}", first=_html(exporter, executed, first), chapters=chapters
    )


def _chapters(cells: Sequence[Any]) -> Iterator[Chapter]:
    """The chapters that have results, with those of their parts that have some."""
    names = dict.fromkeys(c.metadata[QUESTION] for c in cells if QUESTION in c.metadata)
    for name in names:
        parts = list(_parts([cell for cell in cells if cell.metadata.get(QUESTION) == name]))
        kept = [part for at, part in enumerate(parts) if at == 0 or _has_content(parts, at)]
        if any(part.has_results for part in parts):
            yield Chapter(name, kept)


def _has_content(parts: Sequence[Part], at: int) -> bool:
    """Whether a part, or one under its heading, has results; text that stands alone is content."""
    level = parts[at].level
    below = list(takewhile(lambda part: part.level > level, parts[at + 1 :]))
    if parts[at].has_results or any(part.has_results for part in below):
        return True
    return parts[at].is_text and not below


def _parts(cells: Sequence[Any]) -> Iterator[Part]:
    """A notebook's parts; a heading is the first line of a cell of text."""
    part: Part | None = None
    for cell in cells:
        heading = re.match(r"(#+) (.+)\n*", cell.source)
        if cell.cell_type == "markdown" and heading:
            if part:
                yield part
            part = Part(heading[2], len(heading[1]))
            cell = nbformat.v4.new_markdown_cell(cell.source[heading.end() :])  # type: ignore[no-untyped-call]
        if part and (cell.cell_type == "code" or cell.source):
            part.cells.append(cell)
    if part:
        yield part


def _exporter() -> HTMLExporter:
    """Its full page brings scripts that it loads from a network; the "basic" body has none."""
    return HTMLExporter(
        template_name="basic",
        exclude_input=True,
        exclude_input_prompt=True,
        exclude_output_prompt=True,
        extra_template_basedirs=[],  # by default the folder in which the command was started
    )


def _html(exporter: HTMLExporter, executed: nbformat.NotebookNode, cells: list[Any]) -> Markup:
    own = nbformat.v4.new_notebook(cells=cells, metadata=executed.metadata)  # type: ignore[no-untyped-call]
    body, _ = exporter.from_notebook_node(own)
    return Markup(body)
