"""The engine's TCP against the kernel's: curl as its client, nginx as its server, with loss."""

import subprocess
from pathlib import Path

import pytest

from engine.interop.bed import (
    HOST,
    HOST_ADDRESS,
    HOST_INTERFACE,
    Wire,
    engine_on,
    host_behind_router,
)
from harness.load.client import TrexClient
from harness.testbed.local import LocalTestbed
from servers.base import Endpoint
from servers.nginx_kernel import NginxKernel

pytestmark = pytest.mark.bed

HTTP = Path(__file__).resolve().parents[2] / "trex_profiles" / "http_program.py"
NO_CLIENTS = 0
FLOWS = 1000
PACKET_SOCKETS = "packet:"


def fetch(bed: LocalTestbed, file: Path, patience: int) -> bytes:
    """What curl, on the host's kernel stack, gets from the engine at 16.0.0.1."""
    command = ["curl", "-sS", "--max-time", str(patience), "-D", f"{file}.head", "-o", str(file)]
    curl = bed.run(
        HOST,
        [*command, "http://16.0.0.1/"],
        bed.cpus.server,
        stderr=subprocess.PIPE,
        text=True,
    )
    _, complaint = curl.communicate(timeout=patience + 5)
    assert curl.returncode == 0, complaint
    return file.with_name(file.name + ".head").read_bytes() + file.read_bytes()


def serve(client: TrexClient, response_bytes: int) -> None:
    """The engine answers any request with a response of that length, headers included."""
    client.load_profile(HTTP, {"request_bytes": 48, "response_bytes": response_bytes})
    client.start(1, client_mask=NO_CLIENTS)


@pytest.mark.parametrize(
    ("response_bytes", "per_mille", "kind"),
    [
        (32_000, 0, ""),
        (10_000_000, 0, ""),
        (32_000, 10, ""),
        (10_000_000, 10, ""),
        (32_000, 0, PACKET_SOCKETS),
        (10_000_000, 10, PACKET_SOCKETS),
    ],
)
def test_curl_gets_whole_responses(
    tmp_path: Path, response_bytes: int, per_mille: int, kind: str
) -> None:
    with (
        host_behind_router(Wire(loss=per_mille)) as bed,
        engine_on(bed, tmp_path, server=True, kind=kind) as client,
    ):
        serve(client, response_bytes)
        for number in range(5 if response_bytes < 1_000_000 else 1):
            response = fetch(bed, tmp_path / f"response-{number}", patience=60)
            head, _, body = response.partition(b"\r\n\r\n")
            assert len(response) == response_bytes
            assert head.startswith(b"HTTP/1.1 200 OK")
            assert body == b"x" * len(body)
        server = client.stats()["traffic"]["server"]
        if per_mille and response_bytes > 1_000_000:
            assert server["tcps_sndrexmitpack"] > 0
        client.stop()


@pytest.mark.parametrize("kind", ["", PACKET_SOCKETS])
def test_every_flow_against_nginx_completes_over_a_lossy_wire(tmp_path: Path, kind: str) -> None:
    with host_behind_router(Wire(loss=10)) as bed:
        folder = tmp_path / "nginx"
        folder.mkdir()
        nginx = NginxKernel(
            Endpoint(HOST, HOST_INTERFACE, HOST_ADDRESS, 80, bed.cpus.server, folder)
        )
        nginx.start()
        try:
            with engine_on(bed, tmp_path, server=False, kind=kind) as client:
                length = nginx.response_length()
                # One flow more than 0.11 s, the generator's start, takes away.
                client.load_profile(HTTP, {"response_bytes": length, "cps": 200})
                client.start(1, duration=(FLOWS + 1) / 200 + 0.11)
                client.wait_on_traffic(60)
                seen = client.stats()["traffic"]["client"]
                opened = seen["tcps_connattempt"]
                assert opened >= FLOWS
                assert seen["tcps_connects"] == seen["tcps_closed"] == opened
                assert seen["tcps_rcvbyte"] == opened * length
                assert seen["tcps_drops"] == seen["tcps_conndrops"] == 0
                assert seen["tcps_sndrexmitpack"] + seen["tcps_rexmttimeo"] > 0
                assert seen["tcps_rcvoopack"] > FLOWS * 22 * 0.005
        finally:
            nginx.stop()
