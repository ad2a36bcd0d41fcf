"""The runs in a folder."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stackcost.report.index import index_of
from stackcost.report.plain import visible
from stackcost.report.text_table import TextTable
from stackcost.store import RunFolder

COLUMNS = ("run", "state", "started", "trials", "title")
UNFINISHED = "unfinished"  # `stackcost run --resume` measures what is missing
MANY = 300  # runs from which on they are lines: to draw a table of 10,000 takes 5 s


def list_runs(results: Path) -> list[dict[str, Any]]:
    """Each run's name, state, start, finished trials and title, oldest first.

    A run whose manifest says that it runs, but that no process measures, was killed: "unfinished".
    A folder whose manifest this version cannot read is listed with that as its state.
    """
    found = index_of(results).runs.select(list(COLUMNS)).to_pylist()
    for run in found:
        if run["state"] == "running" and not RunFolder(results / run["run"]).goes_on():
            run["state"] = UNFINISHED
    return [run | {"trials": "" if run["trials"] is None else run["trials"]} for run in found]


def listing_table(results: Path, runs: Sequence[Mapping[str, Any]]) -> TextTable:
    """One row for each run."""
    rows = [tuple(str(run[column]) for column in COLUMNS) for run in runs]
    return TextTable(f"Runs in {results}", COLUMNS, rows)


def listing_lines(results: Path, runs: Sequence[Mapping[str, Any]]) -> str:
    """The same as lines, of thousands of runs."""
    table = listing_table(results, runs)
    rows = [[visible(cell).replace("\n", " ") for cell in row] for row in table.rows]
    rows.insert(0, [*table.columns])
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
    return "\n".join((visible(table.title), *lines))
