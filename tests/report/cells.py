"""Runs notebooks in this process: their cells alone, without the start of a kernel."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import stackcost
from stackcost.host.modules import hidden
from stackcost.report import show as showing
from stackcost.report.library.run import Run
from stackcost.report.notebook import NOTEBOOKS
from stackcost.report.results.opened import OpenedRuns

with hidden("rfc3987_syntax"):  # as the suite imports it
    import nbformat
    from nbformat import v4 as v4


def cells(name: str) -> list[Any]:
    return list(nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4).cells)


def shown(name: str, runs: Sequence[Path] | OpenedRuns) -> list[str]:
    """What a notebook shows, cell by cell, run in a namespace of its own."""
    outputs: list[str] = []
    space: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(showing, "display", lambda thing: outputs.append(thing.data))
        if isinstance(runs, OpenedRuns):
            patch.setattr(stackcost, "open", lambda *_: Run(runs, []))
        for cell in cells(name):
            if cell.cell_type == "code":
                exec(compile(cell.source, f"{name}.ipynb", "exec"), space)
                if "parameters" in cell.metadata.get("tags", []) and isinstance(runs, Sequence):
                    space["runs"] = [str(run) for run in runs]
    return outputs
