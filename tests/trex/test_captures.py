"""The repository's captures are what their programs write, and TRex takes them as stated."""

import base64
import subprocess
import sys
from pathlib import Path

import pytest

from stackcost.trex.client import TrexClient
from tests.trex.conftest import PROFILES, REPOSITORY


def test_trex_finds_one_flow_of_the_stated_sizes(client: TrexClient) -> None:
    profile = client.profile_json(PROFILES / "http_cap.py")
    request, response = (base64.b64decode(buffer) for buffer in profile["buf_list"])
    assert len(request) == 100
    assert request.startswith(b"GET / HTTP/1.1\r\n")
    assert request.endswith(b"\r\n\r\n")
    assert len(response) == 32_000
    head, _, body = response.partition(b"\r\n\r\n")
    assert f"Content-Length: {len(body)}".encode() in head
    assert len(profile["templates"]) == 1


PORTS = {53: "dns", 80: "web", 25: "mail", 443: "tls", 3306: "db", 16_384: "rtp", 5222: "idle"}


def rates(client: TrexClient, **tunables: float) -> dict[str, float]:
    profile = client.profile_json(PROFILES / "enterprise_mix.py", {"cps": 10_000, **tunables})
    templates = [each["client_template"] for each in profile["templates"]]
    return {PORTS[each["port"]]: each["cps"] for each in templates}


@pytest.mark.parametrize(("program", "number"), [("captures", 1), ("enterprise", len(PORTS))])
def test_a_program_writes_the_same_bytes(program: str, number: int, tmp_path: Path) -> None:
    command = [sys.executable, REPOSITORY / "pcaps" / f"make_{program}.py", tmp_path]
    subprocess.run(command, check=True, capture_output=True)
    written = sorted(tmp_path.iterdir())
    assert len(written) == number
    for capture in written:
        assert capture.read_bytes() == (REPOSITORY / "pcaps" / capture.name).read_bytes()


def test_every_application_has_a_group_and_its_share(client: TrexClient) -> None:
    found = rates(client)
    assert sum(found.values()) == pytest.approx(10_000)
    assert found["dns"] / found["tls"] == pytest.approx(1975.015 / 130.8745)
    assert found["web"] / found["db"] == pytest.approx(1518.93 / 79.3178)
    moved = rates(client, tls_share=0.5)
    assert moved["web"] == pytest.approx(found["web"] / 2)
    assert moved["tls"] == pytest.approx(found["tls"] + found["web"] / 2)
    assert moved["dns"] == pytest.approx(found["dns"])


def test_an_idle_session_stays(client: TrexClient) -> None:
    profile = client.profile_json(PROFILES / "enterprise_mix.py", {"idle_seconds": 7})
    delays = [
        command["usec"]
        for program in profile["program_list"]
        for command in program["commands"]
        if command["name"] == "delay"
    ]
    assert 7_000_000 in delays
