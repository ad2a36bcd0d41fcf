"""The unmodified client of TRex uses the ports of the engine on its in-memory wire."""

import subprocess
import sys

import pytest

from harness.load.generator import Generator
from tests.load.conftest import REPOSITORY


@pytest.mark.parametrize(
    "scenario",
    [
        "pushed_and_captured",
        "layer_3",
        "traffic_looked_at",
        "service_mode",
    ],
)
def test_scenario(engine: Generator, scenario: str) -> None:
    ports = [str(engine.config.rpc_port), str(engine.config.async_port)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.rpc.port_scenarios", scenario, *ports],
        cwd=REPOSITORY,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    engine.check()
