"""The command line as a user starts it, on experiments that take seconds."""

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from stackcost.host.liveness import descendants
from stackcost.store import RunFolder

REPOSITORY = Path(__file__).resolve().parents[2]
STACKCOST = [sys.executable, "-m", "stackcost"]
WITHOUT_REPORT = [sys.executable, "-m", "tests.experiment.without_report"]


def short_compare(folder: Path, quick: str) -> Path:
    """compare.yaml with another `quick`, in a test's own folder; at rates, without a search."""
    text = (REPOSITORY / "experiments" / "compare.yaml").read_text()
    text = text.replace("offered_shares: [0.25, 0.5, 0.75]", "offered_cps: [1000]")
    text = text[: text.index("\nquick:")].replace("../", f"{REPOSITORY}/")
    lines = "".join(f"  {line}\n" for line in quick.strip().splitlines())
    path = folder / "short.yaml"
    path.write_text(f"{text}\nquick:\n{lines}")
    return path


def start(arguments: list[str], report: bool = False) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*(STACKCOST if report else WITHOUT_REPORT), *arguments],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def read_until(process: "subprocess.Popen[str]", words: str) -> None:
    assert process.stdout is not None and process.stderr is not None
    for line in process.stdout:
        if words in line:
            return
    pytest.fail(f"{words!r} never came; {process.stderr.read()}")


def programs(run: "subprocess.Popen[str]", name: str) -> list[psutil.Process]:
    """The programs of this name that a run has started and that are there now."""
    found = []
    for each in descendants(run.pid):
        with suppress(psutil.NoSuchProcess):  # one that has ended since
            if each.name() == name:
                found.append(each)
    return found


def run_folder(results: Path) -> RunFolder:
    (folder,) = results.iterdir()
    return RunFolder.open(folder)


def clean() -> str:
    """Undo what killed runs left; returns what the command said of it."""
    done = subprocess.run([*STACKCOST, "clean"], cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout
