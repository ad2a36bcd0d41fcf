"""The runs in a folder."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stackcost.contracts.errors import StackcostError
from stackcost.report.tables import TextTable
from stackcost.store import RunFolder


def list_runs(results: Path) -> list[dict[str, Any]]:
    """Each run's name, state, start, finished trials and title, oldest first.

    A folder whose manifest this version cannot read is listed with that as its state.
    """
    if not results.is_dir():
        raise StackcostError(f"there is no folder {results}", "stackcost run creates one")
    folders = sorted(path.parent for path in results.glob("*/manifest.json"))
    return [_describe(RunFolder(folder)) for folder in folders]


def listing_table(results: Path, runs: Sequence[Mapping[str, Any]]) -> TextTable:
    """One row for each run."""
    columns = ("run", "state", "started", "trials", "title")
    rows = [tuple(str(run[column]) for column in columns) for run in runs]
    return TextTable(f"Runs in {results}", columns, rows)


def _describe(run: RunFolder) -> dict[str, Any]:
    try:
        manifest = run.manifest()
    except StackcostError as error:
        state = f"unreadable: {error.what}"
        return {"run": run.name, "state": state, "started": "", "trials": "", "title": ""}
    return {
        "run": run.name,
        "state": manifest.state,
        "started": manifest.started,
        "trials": run.count(),
        "title": manifest.experiment.get("title", ""),
    }
