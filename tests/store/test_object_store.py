"""Runs in an object store are read as those of a folder."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from stackcost.cli.entry import app
from stackcost.contracts.errors import StackcostError
from stackcost.report.listing import list_runs
from stackcost.report.run_trend import run_trends
from stackcost.store import RunFolder
from stackcost.store.object_store import copied, upload
from tests.store.many import write_many

fsspec = pytest.importorskip("fsspec")
URL = "memory://lab/runs"


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    memory = fsspec.filesystem("memory")
    yield memory
    if memory.exists("/lab"):
        memory.rm("/lab", recursive=True)


@pytest.fixture
def runs(tmp_path: Path) -> list[RunFolder]:
    results = tmp_path / "results"
    write_many(results, 4)
    found = [RunFolder.open(path) for path in sorted(results.iterdir())]
    for run in found:
        upload(run, URL)
    return found


def names(url: str) -> list[str]:
    return sorted(run["run"] for run in list_runs(copied(url)))


def test_runs_are_listed_and_have_a_trend_as_in_their_folder(runs: list[RunFolder]) -> None:
    results = runs[0].path.parent
    assert list_runs(copied(URL)) == list_runs(results)
    assert run_trends(copied(URL), "") == run_trends(results, "")


def test_a_copy_follows_the_store(runs: list[RunFolder], files: Any) -> None:
    assert names(URL) == [run.name for run in runs]
    gone, changed, *_ = runs
    files.rm(f"/lab/runs/{gone.name}", recursive=True)
    summary = changed.path / "summary.json"
    summary.write_text(json.dumps(json.loads(summary.read_text()) | {"title": "another"}))
    (changed.path / "manifest.json").write_text((changed.path / "manifest.json").read_text() + "\n")
    upload(changed, URL)
    assert names(URL) == [run.name for run in runs[1:]]
    assert "another" in (copied(URL) / changed.name / "summary.json").read_text()


def test_what_has_not_changed_is_not_copied_again(
    runs: list[RunFolder], files: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied(URL)
    monkeypatch.setattr(files, "get_file", lambda *_: pytest.fail("copied again"))
    assert names(URL) == [run.name for run in runs]


def test_a_run_without_its_manifest_is_none_yet(runs: list[RunFolder], files: Any) -> None:
    files.rm(f"/lab/runs/{runs[0].name}/manifest.json")
    assert names(URL) == [run.name for run in runs[1:]]


def test_a_named_run_is_copied_whole(runs: list[RunFolder], files: Any) -> None:
    files.pipe(f"/lab/runs/{runs[0].name}/../../escaped", b"")
    copy = copied(f"{URL}/{runs[0].name}")
    there = {path.relative_to(copy) for path in copy.rglob("*") if path.is_file()}
    own = runs[0].path
    assert there == {path.relative_to(own) for path in own.rglob("*") if path.is_file()}


def test_commands_take_a_url(runs: list[RunFolder]) -> None:
    listed = CliRunner().invoke(app, ["ls", URL, "--json"])
    assert [run["run"] for run in json.loads(listed.stdout)] == [run.name for run in runs]
    again = CliRunner().invoke(app, ["upload", str(runs[0].path), "--to", "memory://lab/second"])
    assert again.stdout.strip() == f"memory:///lab/second/{runs[0].name}"


def test_a_store_that_cannot_be_reached_says_what_it_takes() -> None:
    with pytest.raises(StackcostError, match=r"cannot reach nothing://here: .*; pip install"):
        copied("nothing://here")
