"""An answer that is stored and fresh shows at once; any other is computed from the trials."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stackcost.report.results import computed as results
from stackcost.report.results.computed import basis_of, current, stored_answer, summarise_again
from stackcost.store import RunFolder
from tests.report.fixtures import ALL
from tests.report.stored import store

HEAVY = ("pandas", "matplotlib", "nbconvert", "nbclient", "scipy.stats")
SHOW = f"""
import sys
from stackcost.cli.entry import main
for run in sys.argv[1:]:
    sys.argv = ["stackcost", "show", run]
    try:
        main()
    except SystemExit as end:
        assert not end.code, end
    print("imported:", [name for name in {HEAVY!r} if name in sys.modules])
"""


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    made = store(tmp_path_factory.mktemp("results"))
    summarise_again(made)
    return made


@pytest.fixture
def run(answered: RunFolder, tmp_path: Path) -> RunFolder:
    """A copy, with the times of its files."""
    return RunFolder(shutil.copytree(answered.path, tmp_path / "run"))


def test_a_fresh_answer_of_any_kind_is_shown_without_its_trials(tmp_path: Path) -> None:
    """These runs are stored without their samples, so that nothing could be computed from them.

    None of the large libraries is needed.
    """
    runs = [RunFolder(shutil.copytree(path, tmp_path / path.name)) for path in ALL]
    for run in runs:
        stored = run.summary() | {"basis": basis_of(run)}
        (run.path / "summary.json").write_text(json.dumps(stored))
        answer = stored_answer(run)
        assert answer is not None and answer.run == stored["run"]
    command = [sys.executable, "-c", SHOW, *(str(run.path) for run in runs)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    *printed, rest = done.stdout.split("imported: []\n")
    assert len(printed) == len(runs) and not rest, done.stdout
    for run, said in zip(runs, printed, strict=True):
        assert len(said) > 400, run.path


def test_what_is_stored_is_what_would_be_computed_and_computing_says_so(
    run: RunFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = stored_answer(run)
    assert stored is not None and current(run) == stored
    assert not capsys.readouterr().err
    assert summarise_again(run) == stored
    said = capsys.readouterr()
    assert said.err == f"stackcost computing the results of {run.path} from {run.count()} trials\n"
    assert not said.out
    (run.path / "summary.json").unlink()
    assert current(run) == stored
    assert "no current ones are stored" in capsys.readouterr().err


@pytest.mark.parametrize("file", ["trials.jsonl", "manifest.json", "samples/0003.parquet"])
def test_other_files_are_another_answer(run: RunFolder, file: str) -> None:
    path = run.path / file
    later = path.stat().st_mtime_ns + 1
    os.utime(path, ns=(later, later))
    assert stored_answer(run) is None


def test_so_are_a_trial_more_and_none_stored(run: RunFolder) -> None:
    more = run.path / "samples/0099.parquet"
    shutil.copy(run.path / "samples/0001.parquet", more)
    assert stored_answer(run) is None
    more.unlink()
    assert stored_answer(run) is not None
    (run.path / "summary.json").unlink()
    assert stored_answer(run) is None


def test_so_is_another_version_of_the_program(
    run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = shutil.copytree(results.PACKAGE, tmp_path / "stackcost")
    monkeypatch.setattr(results, "PACKAGE", package)
    picture = package / "report/plots/costs.py"
    picture.write_text(picture.read_text() + "# changed\n")
    assert stored_answer(run) is not None, "a picture is no part of the results"
    changed = package / "analysis/cost/cpu.py"
    changed.write_text(changed.read_text() + "# changed\n")
    assert stored_answer(run) is None


def test_a_stored_answer_that_cannot_be_read_is_computed(run: RunFolder) -> None:
    path = run.path / "summary.json"
    for damaged in ("", "[]", json.dumps({"basis": basis_of(run)})):
        path.write_text(damaged)
        assert stored_answer(run) is None, damaged
