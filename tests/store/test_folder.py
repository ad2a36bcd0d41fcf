"""The run folder: what is stored comes back, whatever ends the run."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pandas
import pytest
from pydantic import BaseModel

from stackcost.cli.schema import schemas
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.load import ConstantLoad
from stackcost.contracts.sample import Kind, Metric
from stackcost.contracts.trial import Trial
from stackcost.contracts.window import Window
from stackcost.store import Manifest, RunFolder
from tests.analysis.stored_runs import SMALL

LEVEL = Metric("process.rss", "B", Kind.GAUGE, "/proc/PID/statm")


def trial(number: int, samples: int = 3) -> Trial:
    known = [
        LEVEL.sample(10.0 + i, 100.0 * i, role="worker-0", process="7") for i in range(samples)
    ]
    return Trial(
        server="nginx/kernel",
        number=number,
        round=1,
        load=ConstantLoad(offered_cps=2000.0, client={"tcps_closed": 5.0}),
        phases={"warm-up": Window(0.0, 9.0), "sustain": Window(10.0, 11.0)},
        samples=[*known, LEVEL.unknown(12.0, "it has ended", role="worker-0", process="7")],
    )


def test_a_trial_comes_back_as_it_was_stored(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path / "results", "compare")
    run.write_manifest(Manifest(run=run.name))
    stored = [trial(1), trial(2)]
    for each in stored:
        run.add_trial(each)
    assert RunFolder.open(run.path).trials() == stored


def test_samples_are_one_table_for_other_programs(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path, "compare")
    run.add_trial(trial(1))
    run.add_trial(trial(2))
    every = pandas.read_parquet(run.path / "samples")
    labels = every.labels.map(dict)
    of_worker = labels.map(lambda own: own.get("role") == "worker-0")
    rows = every[(every.metric == "process.rss") & of_worker].sort_values(["trial", "time"])
    assert len(rows) == 8
    assert rows.phase[:2].tolist() == ["sustain", "sustain"]
    assert rows.phase[2:4].isna().all()
    assert rows.iloc[0][["run", "server", "unit", "kind"]].tolist() == [
        run.name,
        "nginx/kernel",
        "B",
        "gauge",
    ]
    assert rows.value.isna().tolist() == [False, False, False, True] * 2
    assert rows.reason.iloc[3] == "it has ended"


def test_two_runs_of_the_same_second_have_folders_of_their_own(tmp_path: Path) -> None:
    names = {RunFolder.create(tmp_path, "compare").name for _ in range(5)}
    assert len(names) == 5
    assert all(name.split("-")[1] == "compare" for name in names)


def test_the_summary_is_the_last_one_written(tmp_path: Path) -> None:
    class Answer(BaseModel):
        factor: float | None

    run = RunFolder.create(tmp_path, "compare")
    with pytest.raises(StackcostError, match="ended before it was written"):
        run.summary()
    run.write_summary(Answer(factor=None))
    run.write_summary(Answer(factor=29.0))
    assert run.summary() == {"factor": 29.0}
    assert not list(run.path.glob(".*"))


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StackcostError, match=r"not a run's folder"):
        RunFolder.open(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(StackcostError, match="--results"):
        RunFolder.create(tmp_path / "file", "compare")


KILLED = """
import sys
from pathlib import Path
from stackcost.store import Manifest, RunFolder
from tests.store.test_folder import trial
run = RunFolder.create(Path(sys.argv[1]), "compare")
run.write_manifest(Manifest(run=run.name, command=["stackcost", "compare"]))
for number in range(1, 10_000):
    run.add_trial(trial(number, samples=20_000))
    print(number, run.path, flush=True)
"""


def test_a_run_killed_while_writing_leaves_every_finished_trial(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert child.stdout
    for line in child.stdout:
        number, path = line.split()
        if number == "3":
            break
    time.sleep(0.02)  # into the next trial
    child.send_signal(signal.SIGKILL)
    child.communicate()
    run = RunFolder.open(Path(path))
    trials = run.trials()
    assert len(trials) >= 3
    assert trials == [trial(each.number, samples=20_000) for each in trials]
    assert sum(len(each.samples) for each in trials if each.number <= 3) == 3 * 20_001
    manifest = run.manifest()
    assert (manifest.state, manifest.finished) == ("running", None)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid():
        pytest.skip("mounting a small file system needs root")
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=768k", "stackcost-test", str(disk)]
    subprocess.run(mount, check=True)
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_is_named_and_what_was_stored_stays(small_disk: Path) -> None:
    run = RunFolder.create(small_disk, "compare")
    run.write_manifest(Manifest(run=run.name))
    run.add_trial(trial(1))
    with pytest.raises(StackcostError, match=r"no space left .* it needs [\d,]+ bytes") as caught:
        run.add_trial(trial(2, samples=200_000))
    assert "df -h" in caught.value.hint
    assert run.trials() == [trial(1)]
    assert not list(run.path.rglob(".*"))
    run.give_back_reserve()


def test_a_disk_too_small_for_a_run_is_named_and_keeps_nothing(small_disk: Path) -> None:
    (small_disk / "other").write_bytes(bytes(568 << 10))  # 200 KB are left
    with pytest.raises(StackcostError, match="no space left"):
        RunFolder.create(small_disk / "results", "compare")
    assert list((small_disk / "results").iterdir()) == []


def test_a_disk_that_fails_is_named_and_what_was_stored_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    run = RunFolder.create(tmp_path, "compare")
    run.write_manifest(Manifest(run=run.name))
    run.add_trial(trial(1))
    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", broken)
        with pytest.raises(StackcostError, match="input/output error") as caught:
            run.add_trial(trial(2))
    assert "dmesg" in caught.value.hint
    assert run.trials() == [trial(1)]
    run.add_trial(trial(2))
    assert run.trials() == [trial(1), trial(2)]
    assert not list(run.path.rglob(".*"))


def test_each_stored_file_has_a_schema_and_real_files_fit_it() -> None:
    names = {name.partition(".")[0]: json.loads(text) for name, text in schemas().items()}
    for name in ("manifest", "summary"):
        stored = json.loads((SMALL / f"{name}.json").read_text())
        assert set(stored) <= set(names[name]["properties"]), name
        assert set(names[name].get("required", [])) <= set(stored), name
    assert {"experiment", "ceiling", "events"} <= set(names)


def test_a_printed_command_quotes_blanks_in_a_path(tmp_path: Path) -> None:
    run = RunFolder.create(tmp_path / "my results", "compare")
    with pytest.raises(StackcostError) as caught:
        run.summary()
    assert f"stackcost report '{run.path}'" in caught.value.hint
