"""What a rendering leaves behind when its process is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from stackcost.report.results.computed import summarise_again
from tests.report.stored import store
from tests.trex.conftest import REPOSITORY

RENDER = """
import sys
from pathlib import Path
from stackcost.report.notebook import render
render([Path(sys.argv[1])], Path(sys.argv[1], "report.html"))
"""
DEADLINE_S = 120.0


def test_a_killed_rendering_leaves_no_socket_in_the_current_folder(tmp_path: Path) -> None:
    run = store(tmp_path)
    summarise_again(run)
    here, ours = tmp_path / "here", tmp_path / "ours"
    here.mkdir()
    ours.mkdir()
    environment = os.environ | {"TMPDIR": str(ours)}
    command = [sys.executable, "-c", RENDER, str(run.path)]
    rendering = subprocess.Popen(command, cwd=here, env=environment, start_new_session=True)
    try:
        deadline = time.monotonic() + DEADLINE_S
        while not _sockets(ours) and not _strewn(here) and time.monotonic() < deadline:
            assert rendering.poll() is None, "it ended before its kernel started"
            time.sleep(0.05)
    finally:
        os.killpg(rendering.pid, signal.SIGKILL)
        rendering.wait()
    assert _strewn(here) == []
    assert _sockets(ours), "its kernel was running"


def _sockets(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_socket()]


def _strewn(here: Path) -> list[Path]:
    """Where the command was started, or the notebooks are executed."""
    return [path for folder in (here, REPOSITORY) for path in folder.iterdir() if path.is_socket()]
