"""TRex's client through the bridge, on every Python of the supported ones that is found here."""

import os
import subprocess
import sys
import sysconfig
from functools import cache
from typing import Any

import pytest

from harness.load.client import TrexClient
from harness.load.generator import Generator
from tests.load.conftest import PROFILES, REPOSITORY, client_of, pythons

found = cache(pythons)


@pytest.fixture(params=["3.11", "3.12", "3.13"])
def spawn(request: pytest.FixtureRequest) -> Any:
    """Starts the client's module with another Python, on this one's packages of pure Python."""
    if request.param not in found():
        pytest.skip(f"no Python {request.param} on this machine")
    python = found()[request.param]
    packages = [str(REPOSITORY), sysconfig.get_path("purelib")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(packages)}

    def spawn(argv: list[str], **options: Any) -> "subprocess.Popen[Any]":
        assert argv[0] == sys.executable
        return subprocess.Popen([python, "-B", *argv[1:]], env=environment, **options)

    return spawn


def test_every_profile_is_the_same(spawn: Any, client: TrexClient) -> None:
    with TrexClient(spawn) as other:
        for profile in sorted(PROFILES.glob("*.py")):
            assert other.profile_json(profile) == client.profile_json(profile)


def test_it_drives_an_engine(spawn: Any, engine: Generator) -> None:
    with client_of(engine.config, spawn=spawn) as client:
        client.connect()
        client.reset()
        client.load_profile(PROFILES / "http_program.py")
        client.start(mult=50, duration=0.5)
        client.wait_on_traffic(timeout=10)
        assert client.stats()["traffic"]["client"]["tcps_closed"] > 0
        client.disconnect()
