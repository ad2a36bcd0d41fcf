"""What can go wrong in the middle of a run, for real: nothing measured is lost, the cause is told.

Ctrl-C and two harnesses at once: test_run.py.
"""

import io
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.flags import flags_of
from stackcost.bed.network import existing_namespaces
from stackcost.contracts.load import HeldFlows
from stackcost.contracts.trial import Trial
from stackcost.experiment.profile_load import NO_MEMORY
from stackcost.experiment.read_file import read_experiment
from stackcost.host.liveness import descendants
from stackcost.report.results.stored import summary_of
from stackcost.report.story import of_trials
from stackcost.runs import record
from stackcost.runs.comparison import run_experiment
from stackcost.store import RunFolder
from tests.experiment.command import (
    clean,
    programs,
    read_until,
    run_folder,
    short_compare,
    start,
)

NGINX_ALONE = """
servers: [nginx/kernel]
against: nginx/kernel
rounds: 1
load: {offered_cps: [300], warm_up_s: 0.5, sustain_s: 1}
memory: {open_flows: [0, 100], open_cps: 1000, settle_s: 0.1, read_s: 0.2}
"""

pytestmark = pytest.mark.bed


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """nginx alone, as short as it can be."""
    return short_compare(tmp_path_factory.mktemp("experiment"), NGINX_ALONE)


@pytest.fixture
def going(alone: Path, tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """A run that has stored its memory part and is in its load trial."""
    process = start(["run", str(alone), "--quick", "--results", str(tmp_path / "results")])
    try:
        read_until(process, "300 connections/s")
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)


def open_flows(trial: Trial) -> int | None:
    return trial.load.open_flows if isinstance(trial.load, HeldFlows) else None


def whole(folder: RunFolder) -> list[Trial]:
    """Without what a busy machine disturbed, which was made again."""
    return [trial for trial in folder.trials() if not trial.set_aside]


def end_of(run: "subprocess.Popen[str]", results: Path) -> tuple[RunFolder, str]:
    """The folder and the message of a run that failed; the machine must be as it was."""
    _, errors = run.communicate(timeout=60)
    assert run.returncode == 1 and "Traceback" not in errors, errors
    assert existing_namespaces() == []
    folder = run_folder(results)
    manifest = folder.manifest()
    assert manifest.state == "failed" and manifest.failure in errors
    held = [open_flows(trial) for trial in whole(folder)]
    assert held == [0, 100, 0], "what was over before is whole"
    assert f"--resume {folder.path}" in errors
    return folder, manifest.failure


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("nginx", "nginx/kernel has failed"),
        pytest.param("astf-engine", "generator ended", marks=pytest.mark.long),
    ],
)
def test_a_program_killed_in_mid_trial_is_named(
    going: "subprocess.Popen[str]", tmp_path: Path, program: str, told: str
) -> None:
    time.sleep(0.7)
    found = programs(going, program)
    assert found
    for process in found:
        process.kill()
    folder, cause = end_of(going, tmp_path / "results")
    assert told in cause
    cut = [trial for trial in folder.trials() if trial.offered_cps]  # none if not begun yet
    assert all(trial.set_aside == "cut short" and trial.samples for trial in cut)


@pytest.mark.long
@pytest.mark.parametrize(
    ("program", "told"),
    [
        pytest.param("nginx", "nginx/kernel has failed: its master (process", id="server"),
        pytest.param("astf-engine", "generator has failed: its program (process", id="generator"),
        pytest.param(
            "stackcost.trex.client_process",
            "the TRex client has failed: its program (process",
            id="client",
        ),
    ],
)
def test_a_stopped_program_is_named_in_bounded_time(
    going: "subprocess.Popen[str]", tmp_path: Path, program: str, told: str
) -> None:
    time.sleep(0.7)
    found = [each for each in descendants(going.pid) if program in (each.name(), *each.cmdline())]
    assert found
    for process in found:
        process.suspend()
    _, cause = end_of(going, tmp_path / "results")
    assert told in cause and cause.endswith("is stopped by a signal or a debugger")


@pytest.mark.long
def test_a_stopped_collector_is_named_and_the_run_goes_on(
    going: "subprocess.Popen[str]", tmp_path: Path
) -> None:
    time.sleep(0.7)  # into the trial: the collector has been read in it
    for process in programs(going, "core_speed"):
        process.suspend()
    _, errors = going.communicate(timeout=60)
    assert going.returncode == 0, errors
    first = next(each for each in run_folder(tmp_path / "results").trials() if each.offered_cps)
    halted = [each for each in first.samples if each.metric == "core.work_time" and not each.value]
    assert any("core speed: the program that measures core" in each.reason for each in halted)
    flags = flags_of(Readings(first, (1,)))
    assert any("core speed: the program that measures core" in flag for flag in flags), flags


def test_a_disturbed_trial_is_made_once_more_and_is_in_no_figure(
    alone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record, "LOOKED_S", 0.1)
    output = io.StringIO()
    # Memory trials that the machine disturbs would use up the run's repetitions.
    plan = read_experiment(alone, quick=True).model_copy(update={"memory": NO_MEMORY})
    core = str(plan.cores.server[0])
    loop = ["taskset", "-c", core, "timeout", "100", "sh", "-c", "while :; do :; done"]
    disturber = subprocess.Popen(loop)
    try:
        folder = run_experiment(plan, "alone", tmp_path, [], Console(file=output, width=200))
    finally:
        disturber.terminate()
        disturber.wait()
    assert "300 connections/s, repeated because it was disturbed" in output.getvalue()
    first, second = (trial for trial in folder.trials() if trial.offered_cps)
    assert first.set_aside == f"disturbed; repeated as trial {second.number}"
    assert first.samples and second.number == first.number + 1 and not second.set_aside
    assert all(
        "other programs took" in " ".join(flags_of(Readings(t, (1,)))) for t in (first, second)
    )
    summary = summary_of(folder)
    assert len(summary.servers[0].levels[0]["completed_cps"].values) == 1
    row = next(row for row in summary.trials if row.number == first.number)
    assert row.flags[-1] == f"in no figure: {first.set_aside}"
    assert "1 more trial not used" in of_trials(summary)


@pytest.mark.long
def test_a_full_disk_is_reported_in_the_runs_own_manifest(alone: Path, tmp_path: Path) -> None:
    disk = tmp_path / "results"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "stackcost-test", str(disk)]
    subprocess.run(mount, check=True)
    try:
        run = start(["run", str(alone), "--quick", "--results", str(disk)])
        read_until(run, "300 connections/s")
        with (run_folder(disk).path / "logs" / "filler").open("wb", buffering=0) as filler:
            while written := _write_some(filler):
                assert written
        folder, cause = end_of(run, disk)
        assert "no space left" in cause
        assert not any(trial.offered_cps for trial in folder.trials())
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def _write_some(file: object) -> int:
    try:
        return file.write(bytes(4096))  # type: ignore[attr-defined,no-any-return]
    except OSError:
        return 0


@pytest.fixture(scope="module")
def resumed(alone: Path, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run without a working compiler, killed in its load trial, undone, and gone on with."""
    folder = tmp_path_factory.mktemp("resumed")
    compiler = folder / "bin" / "clang"
    compiler.parent.mkdir()
    compiler.write_text("#!/bin/sh\necho 'no compiler today' >&2\nexit 1\n")
    compiler.chmod(0o755)
    old_path = os.environ["PATH"]
    os.environ["PATH"] = f"{compiler.parent}:{old_path}"
    try:
        run = start(["run", str(alone), "--quick", "--results", str(folder / "results")])
        read_until(run, "300 connections/s")
        run.kill()
        run.communicate()
        killed = run_folder(folder / "results")
        assert (killed.manifest().state, len(whole(killed))) == ("running", 3)
        assert existing_namespaces(), "a killed run cannot clean up"
        assert "done: remove namespace stackcost-server" in clean() and existing_namespaces() == []
        assert clean() == "nothing was left behind\n"
        again = start(["run", "--resume", str(killed.path)])
        _, errors = again.communicate(timeout=90)
        assert again.returncode == 0, errors
    finally:
        os.environ["PATH"] = old_path
    return killed


def test_a_killed_run_goes_on_with_only_what_is_missing(resumed: RunFolder) -> None:
    assert existing_namespaces() == []
    manifest = resumed.manifest()
    assert manifest.state == "complete"
    assert [open_flows(trial) for trial in whole(resumed)] == [0, 100, 0, None]
    numbers = [trial.number for trial in resumed.trials()]
    assert numbers == list(range(1, len(numbers) + 1))
    assert [each.first_trial for each in manifest.resumed] == [whole(resumed)[2].number + 1]
    memory = resumed.summary()["servers"][0]["memories"]["established"]["figures"]
    assert memory["memory.total"]["median"] is not None
    assert not (resumed.path / "reserve").exists()


def test_a_failing_collector_leaves_the_others_and_its_cause(resumed: RunFolder) -> None:
    load = resumed.trials()[-1]
    broken = [sample for sample in load.samples if sample.metric == "cpu.exact_time"]
    assert broken and all(sample.value is None for sample in broken)
    assert all("no compiler today" in sample.reason for sample in broken)
    assert any(sample.metric == "cpu.time" and sample.value for sample in load.samples)
