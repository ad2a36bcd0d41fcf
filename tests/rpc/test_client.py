"""The unmodified client of TRex drives the engine on its in-memory wire."""

import subprocess
import sys

import pytest

from harness.load.generator import Generator
from tests.load.conftest import REPOSITORY


@pytest.mark.parametrize(
    "scenario",
    [
        "whole_run",
        "latency_streams",
        "ipv6",
        "stop_and_start_again",
        "large_upload",
        "several_profiles",
        "two_clients",
        "errors_at_start",
        "limits_of_runs",
        "ports_and_server",
    ],
)
def test_scenario(engine: Generator, scenario: str) -> None:
    ports = [str(engine.config.rpc_port), str(engine.config.async_port)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.rpc.client_scenarios", scenario, *ports],
        cwd=REPOSITORY,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    engine.check()
