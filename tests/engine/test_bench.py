"""The benchmark and a run exclude each other: only one may use the cores."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stackcost.bed.lock import RunLock
from tests.trex.conftest import REPOSITORY

TIMEOUT_S = 120.0  # another test's run
pytestmark = [
    pytest.mark.bed,
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="a CPU for each side"),
]


def test_memif_waits_for_no_run(tmp_path: Path) -> None:
    out = tmp_path / "bench.json"
    command = [sys.executable, "engine/bench", "memif", "--trials", "1", "--out", str(out)]
    with RunLock(TIMEOUT_S):
        done = subprocess.run(
            command,
            cwd=REPOSITORY,
            env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    reason = json.loads(out.read_text())["rows"]["memif"]["not_run"]
    assert reason.startswith("another run is active on this machine")
    assert f"pid {os.getpid()}" in reason
