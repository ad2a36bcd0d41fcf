"""The runs in a folder."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from stackcost.contracts.errors import StackcostError
from stackcost.report.plain import visible
from stackcost.report.text_table import TextTable
from stackcost.store import RunFolder
from stackcost.store.folder import MANIFEST

COLUMNS = ("run", "state", "started", "trials", "title")
UNFINISHED = "unfinished"  # `stackcost run --resume` measures what is missing
MANY = 300  # runs from which on they are lines: to draw a table of 10,000 takes 5 s


def runs_in(results: Path) -> Iterator[RunFolder]:
    """The runs in a folder by their names; StackcostError if there is no such folder."""
    if not results.is_dir():
        raise StackcostError(f"there is no folder {results}", "stackcost run creates one")
    for path in sorted(results.iterdir()):
        if os.path.lexists(path / MANIFEST):
            yield RunFolder(path)


def list_runs(results: Path) -> list[dict[str, Any]]:
    """Each run's name, state, start, finished trials and title, oldest first.

    A run whose manifest says that it runs, but that no process measures, was killed: "unfinished".
    A folder whose manifest this version cannot read is listed with that as its state.
    """
    return [_described(run) for run in runs_in(results)]


def _described(run: RunFolder) -> dict[str, Any]:
    name = os.fsencode(run.name).decode(errors="backslashreplace")
    try:
        manifest, trials = run.manifest(), run.count()
    except StackcostError as error:
        state = f"unreadable: {error.what}"
        return {"run": name, "state": state, "started": "", "trials": "", "title": ""}
    ended = manifest.state == "running" and not run.goes_on()
    return {
        "run": name,
        "state": UNFINISHED if ended else manifest.state,
        "started": manifest.started,
        "trials": trials,
        "title": str(manifest.experiment.get("title", "")),
    }


def listing_table(results: Path, runs: Sequence[Mapping[str, Any]]) -> TextTable:
    """One row for each run."""
    rows = [tuple(str(run[column]) for column in COLUMNS) for run in runs]
    return TextTable(f"Runs in {results}", COLUMNS, rows)


def listing_lines(results: Path, runs: Sequence[Mapping[str, Any]]) -> str:
    """Thousands of runs as lines."""
    table = listing_table(results, runs)
    rows = [[visible(cell).replace("\n", " ") for cell in row] for row in table.rows]
    rows.insert(0, [*table.columns])
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
    return "\n".join((visible(table.title), *lines))
