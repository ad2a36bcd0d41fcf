"""A damaged trial is left out and reported, the others are read; a bad run is one error."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from stackcost.cli.entry import app
from stackcost.contracts.errors import StackcostError
from stackcost.report.results.computed import computed
from stackcost.report.results.opened import open_runs
from stackcost.report.story import of_runs
from stackcost.store import RunFolder
from tests.analysis.runs import compared
from tests.report.stored import store

HURT = 4  # the trial of which something is damaged
SAMPLES = f"samples/000{HURT}.parquet"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store(tmp_path_factory.mktemp("results"), compared(1)).path


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / whole.name))


def stackcost(*arguments: str) -> str:
    """What it prints; StackcostError as it ends a command, and no other exception."""
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def readers(run: Path) -> list[list[str]]:
    """Every command that computes a run's figures, but for rendering, which takes seconds."""
    path = str(run)
    return [["show", path], ["export", path], ["diff", path, path], ["ls", str(run.parent)]]


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def blank(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def other_columns(path: Path) -> None:
    import pandas

    pandas.DataFrame({"metric": ["x"]}).to_parquet(path)


def times_as_text(path: Path) -> None:
    table = pq.read_table(path)
    at = table.schema.get_field_index("time")
    pq.write_table(table.set_column(at, "time", table["time"].cast(pa.string())), path)


def link(path: Path) -> None:
    path.unlink()
    os.symlink("/dev/zero", path)


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("hurt", "told"),
    [
        (lambda path: path.write_bytes(b""), "it is empty"),
        (cut, "ArrowInvalid"),
        (blank, "ArrowInvalid"),
        (other_columns, "cannot be read"),
        (times_as_text, "its column 'time' is string in place of double"),
        (Path.unlink, "No such file"),
        (link, "symbolic links"),
        (pipe, "not a regular file"),
    ],
)
def test_a_trial_without_readable_samples_is_set_aside_and_the_others_count(
    run: Path, hurt: Callable[[Path], object], told: str
) -> None:
    hurt(run / SAMPLES)
    stored = RunFolder.open(run).stored()
    (line,) = stored.damaged
    assert line.startswith(f"trial {HURT}: {SAMPLES} cannot be read:") and told in line
    assert [trial.number for trial in stored.trials] == list(range(1, 11))
    assert [trial.number for trial in stored.trials if trial.set_aside] == [HURT]
    assert [trial.number for trial in stored.trials if not trial.samples] == [HURT]


def test_every_command_reads_what_is_left_and_tells_what_is_damaged(run: Path) -> None:
    (run / SAMPLES).write_bytes(b"")
    _changed(run, "trials.jsonl", lambda lines: [*lines[:-1], lines[-1][:90]])
    for words in readers(run):
        stackcost(*words)
    said = stackcost("show", str(run))
    assert f"damaged: trial {HURT}: {SAMPLES} cannot be read: it is empty" in said
    assert "damaged: line 10 of trials.jsonl: Invalid JSON" in said
    (listed,) = json.loads(stackcost("ls", str(run.parent), "--json"))
    assert listed["trials"] == 9
    RunFolder.open(run).write_summary(computed(RunFolder.open(run)))
    assert "it is empty" in of_runs(open_runs([run]))


def _changed(run: Path, name: str, change: Callable[[list[bytes]], list[bytes]]) -> None:
    path = run / name
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))


@pytest.mark.parametrize(
    ("change", "line", "told"),
    [
        (lambda lines: [*lines[:-1], lines[-1][:90]], 10, "EOF"),
        (lambda lines: [*lines[:3], lines[3][:90] + b"\n", *lines[4:]], 4, "EOF"),
        (lambda lines: [*lines[:3], bytes(80) + b"\n", *lines[4:]], 4, "blank"),
        (lambda lines: [*lines[:3], b"\xff\xfe\n", *lines[4:]], 4, "Invalid JSON"),
        (lambda lines: [*lines[:3], b"[" * 9999 + b"\n", *lines[4:]], 4, "recursion"),
        (lambda lines: [*lines[:3], b'{"a": 1}\n', *lines[4:]], 4, "server: Field required"),
    ],
)
def test_a_line_that_is_no_trial_is_reported_and_the_others_count(
    run: Path, change: Callable[[list[bytes]], list[bytes]], line: int, told: str
) -> None:
    _changed(run, "trials.jsonl", change)
    stored = RunFolder.open(run).stored()
    (said,) = stored.damaged
    assert said.startswith(f"line {line} of trials.jsonl: ") and told in said
    assert len(stored.trials) == RunFolder.open(run).count() == 9


def test_a_run_with_a_damaged_line_goes_on_and_keeps_that_line(run: Path) -> None:
    _changed(run, "trials.jsonl", lambda lines: [*lines[:3], lines[3][:90] + b"\n", *lines[4:-1]])
    path = run / "trials.jsonl"
    before = path.read_bytes().splitlines()
    stored = RunFolder.open(run)
    assert stored.next_number() == 11, "not that of a trial of which the samples are there"
    stored.set_aside([5], "run again")
    trial = compared(1)[0]
    trial.number = stored.next_number()
    stored.add_trial(trial)
    after = path.read_bytes().splitlines()
    assert after[3] == before[3] and len(after) == len(before) + 1
    assert {t.number: t.set_aside for t in stored.trials()}[5] == "run again"
    assert stored.trials()[-1].samples == trial.samples


def test_without_a_readable_trial_it_is_one_error(run: Path) -> None:
    _changed(run, "trials.jsonl", lambda lines: [b"{\n", b"{\n"])
    with pytest.raises(StackcostError, match="no readable trial: line 1 of"):
        stackcost("show", str(run))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "manifest.json is damaged: it is empty"),
        (bytes(300), "its 300 bytes are blank"),
        (b"{", "manifest.json is damaged: Invalid JSON"),
        (b"\xff" * 20, "manifest.json is damaged: Invalid JSON"),
        (b"[1]", "manifest.json is damaged: "),
        (b'{"run": "x"}', "has the format 'None'; this version reads stackcost-run/8"),
        (
            b'{"format": "stackcost-manifest/7", "run": "x"}',
            "has the format 'stackcost-manifest/7'; this version reads stackcost-run/8",
        ),
        (b'{"format": "stackcost-run/8"}', "is damaged: run: Field required"),
    ],
)
def test_a_manifest_that_cannot_be_read_is_one_error(run: Path, content: bytes, told: str) -> None:
    (run / "manifest.json").write_bytes(content)
    for words in [*readers(run)[:-1], ["report", str(run)], ["lab", str(run)]]:
        with pytest.raises(StackcostError) as caught:
            stackcost(*words)
        assert told in caught.value.what and str(run) in caught.value.what
    assert "unreadable: " in stackcost("ls", str(run.parent))


@pytest.mark.parametrize(
    "summary", [b"", b"{", b"{}", b'{"format": "stackcost-summary/99"}', b'{"format": 1}']
)
def test_a_summary_that_cannot_be_read_is_computed_again(run: Path, summary: bytes) -> None:
    (run / "summary.json").write_bytes(summary)
    with pytest.raises(StackcostError) as caught:
        open_runs([run])
    assert f"stackcost report {run}" in caught.value.hint


@pytest.mark.parametrize(
    "change",
    [
        lambda stored: stored["experiment"].pop("cores"),
        lambda stored: stored.update(experiment={}),
        lambda stored: stored.update(machine={"kernel": 1}),
        lambda stored: stored.update(servers={"nginx/kernel": {"tuning": {}}}),
        lambda stored: stored.update(kind="ceilings"),
        lambda stored: stored.update(kind="events"),
        lambda stored: stored["experiment"].update(title=["x"]),
    ],
)
def test_a_manifest_that_says_something_else_is_one_error(
    run: Path, change: Callable[[dict[str, object]], object]
) -> None:
    path = run / "manifest.json"
    stored = json.loads(path.read_text())
    change(stored)
    path.write_text(json.dumps(stored))
    with pytest.raises(StackcostError):
        stackcost("show", str(run))


def test_a_trial_that_lacks_what_every_version_stores_is_one_error(run: Path) -> None:
    _changed(
        run, "trials.jsonl", lambda lines: [line.replace(b'"round"', b'"n"') for line in lines]
    )
    with pytest.raises(
        StackcostError, match=r"no readable trial: line 1 of .*: round: Field required"
    ):
        stackcost("show", str(run))
