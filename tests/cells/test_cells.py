"""The cells of experiments: a matrix is split, no comparison is, and a finished one is whole."""

import json
from pathlib import Path
from typing import Any

import pytest

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.system import pairs
from stackcost.experiment.matrix import variants
from stackcost.experiment.read_file import read_experiment
from stackcost.experiment.schema import Experiment
from stackcost.runs.cells.beds import read_beds
from stackcost.runs.cells.folder import CELL, CellRecord, SetFolder
from stackcost.runs.cells.plan import Cell, cells_of
from stackcost.store import Manifest, RunFolder
from tests.hosts.test_on_bed import PLAN
from tests.runs.made_up import EXPERIMENT


def made(folder: Path, name: str = "plan", **changed: Any) -> Experiment:
    file = folder / f"{name}.yaml"
    file.write_text(json.dumps(PLAN | changed))
    return read_experiment(file)


def names(experiment: Experiment) -> list[str]:
    return [cell.name for cell in cells_of([("x", experiment)])]


def compared(experiment: Experiment) -> set[tuple[str, str]]:
    systems = [each.system for each in variants(experiment)]
    return set(pairs(systems, experiment.baseline, experiment.against))


SPLIT = {"tuning": ["stock", "rps"], "response_bytes": [100, 2000]}


def test_a_matrix_is_split_by_every_axis_that_no_comparison_spans(tmp_path: Path) -> None:
    both = {"servers": ["nginx/kernel", "astf-peer"], "against": "astf-peer", "matrix": SPLIT}
    whole = made(tmp_path, **both)
    cells = cells_of([("x", whole)])
    assert [each.name for each in cells] == [
        "x-stock-100",
        "x-stock-2000",
        "x-rps-100",
        "x-rps-2000",
    ]
    assert set.union(*(compared(each.experiment) for each in cells)) == compared(whole)
    assert [len(compared(each.experiment)) for each in cells] == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"baseline": "nginx/kernel:rps", "against": "nginx/kernel:stock"}, ["x-100", "x-2000"]),
        ({}, ["x-100", "x-2000"]),  # each tier is compared with each other one
        ({"matrix": {"stack": ["kernel", "onload-balanced"]}}, ["x"]),
        ({"matrix": {}}, ["x"]),
    ],
)
def test_a_comparison_is_not_split(
    tmp_path: Path, changed: dict[str, Any], expected: list[str]
) -> None:
    whole = made(tmp_path, **({"matrix": SPLIT} | changed))
    assert names(whole) == expected
    cells = cells_of([("x", whole)])
    assert set.union(*(compared(each.experiment) for each in cells)) == compared(whole)


def test_a_changed_plan_or_profile_is_another_cell_and_another_bed_is_not(tmp_path: Path) -> None:
    profile = tmp_path / "mine.py"
    profile.write_text("one = 1")
    load = PLAN["load"] | {"profile": "mine.py"}
    bed = {"hosts": {"b": {"address": "192.0.2.1"}}, "cores": {"load": [0, 1], "server": [2]}}
    bed["bed"] = {"server": {"host": "b", "interfaces": ["x"]}, "load": {"interfaces": ["y"]}}

    def digest(**changed: Any) -> str:
        (cell,) = cells_of([("x", made(tmp_path, load=load, **changed))])
        return cell.digest

    first = digest()
    assert digest(**bed) == first
    assert digest(rounds=2) != first
    profile.write_text("one = 2")
    assert digest() != first


def test_two_cells_of_one_name_and_beds_of_two_kinds_are_refused(tmp_path: Path) -> None:
    one = made(tmp_path)
    with pytest.raises(StackcostError, match="two cells have the same name: x"):
        cells_of([("x", one), ("x", one)])
    made(tmp_path, "small")
    sections = {
        "hosts": {"a": {"address": "192.0.2.1"}, "b": {"address": "192.0.2.2"}},
        "bed": {
            "server": {"host": "b", "interfaces": ["x"]},
            "load": {"host": "a", "interfaces": ["y"]},
        },
    }
    made(tmp_path, "remote", **sections)
    made(tmp_path, "larger", **sections, cores={"load": [0, 1], "server": [1, 2]})
    beds = {each: tmp_path / f"{each}.yaml" for each in ("plan", "small", "remote", "larger")}
    with pytest.raises(StackcostError, match="the beds plan and small both use this machine"):
        read_beds([beds["plan"], beds["small"]])
    for two in (["plan", "remote"], ["remote", "larger"]):
        with pytest.raises(StackcostError, match="the beds are not of one kind: "):
            read_beds([beds[each] for each in two])
    assert list(read_beds([beds["remote"]])) == ["remote"]


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
