"""TRex's client through the bridge, on every other supported Python that is found here."""

import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from stackcost.files import IMPORTED_FROM
from stackcost.trex.astf_server import AstfServer
from stackcost.trex.client import TrexClient
from tests.trex.conftest import PROFILES, client_of, pythons

OTHERS = [each for each in ("3.11", "3.12", "3.13") if each != sysconfig.get_python_version()]
found = cache(pythons)


@pytest.fixture(scope="module", params=OTHERS)
def other(request: pytest.FixtureRequest, engine: AstfServer) -> Iterator[TrexClient]:
    """A client whose module another Python runs, on this one's packages of pure Python."""
    if request.param not in found():
        pytest.skip(f"no Python {request.param} on this machine")
    python = found()[request.param]
    packages = [str(IMPORTED_FROM), sysconfig.get_path("purelib")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(packages)}

    def spawn(argv: list[str], **options: Any) -> "subprocess.Popen[Any]":
        assert argv[0] == sys.executable
        return subprocess.Popen([python, "-B", *argv[1:]], env=environment, **options)

    with client_of(engine.config, spawn=spawn) as started:
        yield started


def test_every_profile_is_the_same(other: TrexClient, client: TrexClient) -> None:
    for profile in sorted(PROFILES.glob("*.py")):
        assert other.profile_json(profile) == client.profile_json(profile)


def test_it_drives_an_engine(other: TrexClient) -> None:
    other.connect()
    other.reset()
    other.load_profile(PROFILES / "http_program.py")
    other.start(mult=50, duration=0.5)
    other.wait_on_traffic(timeout=10)
    assert other.stats()["traffic"]["client"]["tcps_closed"] > 0
    other.disconnect()
