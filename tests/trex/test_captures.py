"""The capture in the repository is what its program writes, and TRex takes it as one flow."""

import base64
import subprocess
import sys
from pathlib import Path

from stackcost.trex.client import TrexClient
from tests.trex.conftest import PROFILES, REPOSITORY

CAPTURE = REPOSITORY / "pcaps" / "http_32k.pcap"


def test_program_writes_the_same_bytes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, REPOSITORY / "pcaps/make_captures.py", tmp_path], check=True)
    assert (tmp_path / "http_32k.pcap").read_bytes() == CAPTURE.read_bytes()


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
