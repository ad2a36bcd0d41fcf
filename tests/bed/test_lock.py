"""The lock of a machine, in a folder of its own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from stackcost.bed import lock
from stackcost.bed.lock import ACTIVE, LockedError, RunLock, lock_when_free
from stackcost.cli.wait import alone
from stackcost.runs.live.watch import Watch
from stackcost.runs.observers import observed_by

OTHER_RUN = """
import sys, time
from pathlib import Path
from stackcost.bed.lock import locked_file
with locked_file(Path(sys.argv[1]), "taken"):
    print("has it", flush=True)
    time.sleep(float(sys.argv[2]))
"""


def other_run(folder: Path, seconds: float) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", OTHER_RUN, str(folder / "lock"), str(seconds)]
    other = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None and other.stdout.readline() == "has it\n"
    return other


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(lock, "state_folder", lambda: tmp_path)
    return tmp_path


def test_who_waits_says_for_whom_and_begins_when_the_other_run_has_ended(folder: Path) -> None:
    said: list[str] = []
    with other_run(folder, 1) as other, lock_when_free(said.append, 60):
        assert other.wait(0.5) == 0
        with pytest.raises(LockedError, match="taken"), lock.locked_file(folder / "lock", "taken"):
            pass
    (line,) = said
    assert line.startswith(f"{ACTIVE} (pid {other.pid}, since ")


def test_the_live_page_says_for_whom_a_run_waits(folder: Path) -> None:
    """It showed dashes and no word for as long as the other run had the lock."""
    watch = Watch()
    with observed_by(watch), other_run(folder, 1), alone(True, folder / "results", Console()):
        assert json.loads(watch.state())["waits"].startswith(f"waiting: {ACTIVE} (pid ")


def test_who_does_not_wait_is_told_how(folder: Path) -> None:
    with other_run(folder, 60) as other:
        with pytest.raises(LockedError) as told, RunLock():
            pass
        other.kill()
    assert "--wait" in told.value.hint
