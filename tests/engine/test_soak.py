"""The soak in its shortest form: some seconds of bad networks, aborts and too many flows."""

import json
import subprocess
import sys
from pathlib import Path

from tests.trex.conftest import REPOSITORY


def test_nothing_is_left_over(tmp_path: Path) -> None:
    summary = tmp_path / "soak.json"
    command = [sys.executable, "-m", "engine.soak", "5", "--bed", "wire", "--seed", "5"]
    done = subprocess.run(
        [*command, "--json", str(summary)],
        cwd=REPOSITORY,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    wire = json.loads(summary.read_text())["wire"]
    assert wire["counters"]["tcps_connects"] > 0
    assert wire["impairments"]["lost"] == wire["drops"]["impairment_loss"] > 0
