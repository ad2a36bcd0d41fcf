"""Ctrl-C in every part of `stackcost run`: it ends with 130, and says where the trials are.

Real signals to a real process. It says what it is about to do and waits for a line, so the signal
comes exactly there. The run is of a system that is made up, on no test bed.
"""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stackcost.store import RunFolder
from tests.experiment.command import REPOSITORY


class Run:
    """`stackcost run`, which waits at some steps."""

    def __init__(self, folder: Path, *steps: str):
        self.results = folder / "results"
        self.told = folder / "told"
        os.mkfifo(self.told)
        run = ["run", "compare", "--quick", "--results", str(self.results)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.runs.interrupted", str(folder), *steps, *run],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def wait_at(self, step: str) -> None:
        assert self.process.stdout and self.process.stderr
        for line in self.process.stdout:
            if line == f"at {step}\n":
                return
        pytest.fail(f"it never was at {step}: {self.process.stderr.read()}")

    def wait_at_a_cell(self) -> None:
        pipe = os.open(self.told, os.O_RDWR)  # so that it is there before its writer
        try:
            ready, _, _ = select.select([pipe], [], [], 60)
            assert ready and os.read(pipe, 100) == b"at rendering\n", self.process.poll()
        finally:
            os.close(pipe)

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def go_on(self) -> None:
        assert self.process.stdin
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self) -> tuple[list[str], str]:
        """The lines of its output, and its errors."""
        output, errors = self.process.communicate(timeout=120)
        return output.splitlines(), errors

    @property
    def folder(self) -> RunFolder:
        (path,) = self.results.iterdir()
        return RunFolder.open(path)


@pytest.fixture
def started(tmp_path: Path) -> Iterator[list[Run]]:
    """Runs that end with the test."""
    runs: list[Run] = []
    yield runs
    for run in runs:
        if run.process.poll() is None:
            run.process.kill()
            run.process.communicate()


def check_end(run: Run, state: str, trials: int) -> None:
    """It ended with 130, named its folder last and the command before, and its record is whole."""
    lines, errors = run.end()
    assert run.process.returncode == 130, errors
    assert "Traceback" not in errors
    path = str(run.folder.path)
    assert lines[-1] == path
    command = f"stackcost report {path}"
    assert lines[-2] == f"interrupted; to compute the results, run: {command}"
    manifest = run.folder.manifest()
    assert (manifest.state, len(run.folder.trials())) == (state, trials)
    assert manifest.finished and manifest.machine_after
    assert not (run.folder.path / "reserve").exists()


def test_while_the_record_is_written_after_a_first_ctrl_c(
    tmp_path: Path, started: list[Run]
) -> None:
    run = Run(tmp_path, "measuring", "recording")
    started.append(run)
    run.wait_at("measuring")
    run.interrupt()
    run.wait_at("recording")
    run.interrupt()
    run.go_on()
    check_end(run, "interrupted", 2)


def test_while_the_record_of_a_complete_run_is_written(tmp_path: Path, started: list[Run]) -> None:
    run = Run(tmp_path, "recording")
    started.append(run)
    run.wait_at("recording")
    run.interrupt()
    run.interrupt()
    run.go_on()
    check_end(run, "complete", 2)


def test_while_results_are_computed_after_a_first_ctrl_c(
    tmp_path: Path, started: list[Run]
) -> None:
    run = Run(tmp_path, "measuring", "computing")
    started.append(run)
    run.wait_at("measuring")
    run.interrupt()
    run.wait_at("computing")
    run.interrupt()
    check_end(run, "interrupted", 2)
    assert not (run.folder.path / "summary.json").exists()


def test_while_the_notebooks_are_executed(tmp_path: Path, started: list[Run]) -> None:
    run = Run(tmp_path, "rendering")
    started.append(run)
    run.wait_at_a_cell()
    run.interrupt()
    check_end(run, "complete", 2)
    assert (run.folder.path / "summary.json").exists()
    assert not (run.folder.path / "report.html").exists()


def test_before_anything_was_measured_it_says_so(tmp_path: Path, started: list[Run]) -> None:
    """Also if a second one comes while the record is written."""
    run = Run(tmp_path, "setting-up", "recording")
    started.append(run)
    run.wait_at("setting-up")
    run.interrupt()
    run.wait_at("recording")
    run.interrupt()
    run.go_on()
    lines, errors = run.end()
    assert run.process.returncode == 130, errors
    nothing = "interrupted before the first trial; nothing was measured"
    assert lines[-2:] == [nothing, str(run.folder.path)]
