"""The folder of a set: what is finished, and a run that appears whole among the results."""

import json
from pathlib import Path

import pytest

from stackcost.cells.folder import CELL, CellRecord, SetFolder
from stackcost.cells.plan import Cell
from stackcost.contracts.errors import StackcostError
from stackcost.store import Manifest, RunFolder
from tests.runs.made_up import EXPERIMENT

ONE, TWO = Cell("one", EXPERIMENT), Cell("two", EXPERIMENT)


def finish(folder: SetFolder, cell: Cell) -> Path:
    """Do as a cell's process does, and place its run."""
    _, attempt = folder.begin(cell, cell.experiment)
    run = RunFolder.create(attempt, cell.name)
    run.write_manifest(Manifest(run=run.name, command=[], machine={}, state="complete"))
    record = CellRecord(
        set=folder.name, cell=cell.name, bed="b", attempt=int(attempt.name), plan=cell.digest
    )
    return folder.place(run, record)


def test_a_finished_cell_is_a_run_among_the_results_and_is_not_missing(tmp_path: Path) -> None:
    folder = SetFolder(tmp_path, "nightly")
    with folder.locked():
        assert folder.missing([ONE, TWO]) == [ONE, TWO]
        first = [folder.begin(ONE, EXPERIMENT)[1].name for _ in range(2)]
        placed = finish(folder, ONE)
        assert (first, placed.parent) == (["1", "2"], tmp_path)
        assert json.loads((placed / CELL).read_text())["attempt"] == 3
        assert folder.missing([ONE, TWO]) == [TWO]
        assert [path.name for path in folder.path.iterdir()] == ["lock"]
    assert SetFolder(tmp_path, "weekly").missing([ONE]) == [ONE], "another set"
    (placed / CELL).write_text("{")
    assert folder.missing([ONE]) == [ONE], "a damaged record finishes nothing"


def test_a_cell_with_another_plan_is_refused(tmp_path: Path) -> None:
    folder = SetFolder(tmp_path, "nightly")
    with folder.locked():
        finish(folder, ONE)
    changed = Cell("one", EXPERIMENT.model_copy(update={"rounds": 99}))
    with pytest.raises(StackcostError, match="the set nightly has cell one with another plan"):
        folder.missing([changed])


def test_a_set_is_measured_by_one_process(tmp_path: Path) -> None:
    with (
        SetFolder(tmp_path, "nightly").locked(),
        pytest.raises(StackcostError, match=r"the set nightly is being measured .*pid"),
        SetFolder(tmp_path, "nightly").locked(),
    ):
        pass
