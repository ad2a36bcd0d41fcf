"""The engine's TCP against the kernel's: curl as its client, nginx as its server, with loss."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from engine.interop.bed import (
    HOST,
    Wire,
    engine_on,
    host_behind_router,
)
from stackcost.bed.local import LocalTestbed
from stackcost.trex.client import TrexClient
from tests.engine.nginx import nginx_on_host

pytestmark = pytest.mark.bed

HTTP = Path(__file__).resolve().parents[2] / "trex_profiles" / "http_program.py"
NO_CLIENTS = 0
FLOWS = 1000
AF_XDP, PACKET_SOCKETS = "", "packet:"  # the engine's kinds of ports
LONG = 1_000_000  # bytes of a response, in which some frames are lost


def fetch(bed: LocalTestbed, file: Path, timeout_s: int) -> bytes:
    """What curl, on the host's kernel stack, gets from the engine at 16.0.0.1."""
    command = ["curl", "-sS", "--max-time", str(timeout_s), "-D", f"{file}.head", "-o", str(file)]
    curl = bed.run(
        HOST,
        [*command, "http://16.0.0.1/"],
        bed.cpus.server,
        stderr=subprocess.PIPE,
        text=True,
    )
    _, complaint = curl.communicate(timeout=timeout_s + 5)
    assert curl.returncode == 0, complaint
    return file.with_name(file.name + ".head").read_bytes() + file.read_bytes()


def serve(client: TrexClient, response_bytes: int) -> None:
    """The engine answers any request with a response of that length, headers included."""
    client.load_profile(HTTP, {"request_bytes": 48, "response_bytes": response_bytes})
    client.start(1, client_mask=NO_CLIENTS)


@dataclass(frozen=True)
class Peers:
    """A host behind a router that loses `per_mille` of the frames, and the engine's `kind` of port.

    One bed has one kind, as each has a MAC address of its own, which the router remembers.
    """

    bed: LocalTestbed
    per_mille: int
    kind: str


@pytest.fixture(scope="module")
def peers(request: pytest.FixtureRequest) -> Iterator[Peers]:
    per_mille, kind = request.param
    with host_behind_router(Wire(loss=per_mille)) as bed:
        yield Peers(bed, per_mille, kind)


@pytest.mark.parametrize(
    ("peers", "lengths"),
    [
        ((0, AF_XDP), (32_000, 10_000_000)),
        ((0, PACKET_SOCKETS), (32_000,)),
        pytest.param((10, AF_XDP), (32_000, 10_000_000), marks=pytest.mark.long),
        pytest.param((10, PACKET_SOCKETS), (10_000_000,), marks=pytest.mark.long),
    ],
    indirect=["peers"],
)
def test_curl_gets_whole_responses(peers: Peers, lengths: tuple[int, ...], tmp_path: Path) -> None:
    with engine_on(peers.bed, tmp_path, server=True, kind=peers.kind) as client:
        for length in lengths:
            serve(client, length)
            for number in range(5 if length < LONG else 1):
                response = fetch(peers.bed, tmp_path / f"response-{number}", timeout_s=60)
                head, _, body = response.partition(b"\r\n\r\n")
                assert len(response) == length
                assert head.startswith(b"HTTP/1.1 200 OK")
                assert body == b"x" * len(body)
            server = client.stats()["traffic"]["server"]
            if peers.per_mille and length > LONG:
                assert server["tcps_sndrexmitpack"] > 0
            client.stop()


@pytest.mark.parametrize(
    "peers",
    [(10, AF_XDP), pytest.param((10, PACKET_SOCKETS), marks=pytest.mark.long)],
    indirect=True,
)
def test_every_flow_against_nginx_completes_over_a_lossy_wire(peers: Peers, tmp_path: Path) -> None:
    with (
        nginx_on_host(peers.bed, tmp_path / "nginx") as nginx,
        engine_on(peers.bed, tmp_path, server=False, kind=peers.kind) as client,
    ):
        length = nginx.response_length()
        # One flow more than 0.11 s, the generator's start, takes away.
        client.load_profile(HTTP, {"response_bytes": length, "cps": 400})
        client.start(1, duration=(FLOWS + 1) / 400 + 0.11)
        client.wait_on_traffic(60)
        seen = client.stats()["traffic"]["client"]
        opened = seen["tcps_connattempt"]
        assert opened >= FLOWS
        assert seen["tcps_connects"] == seen["tcps_closed"] == opened
        assert seen["tcps_rcvbyte"] == opened * length
        assert seen["tcps_drops"] == seen["tcps_conndrops"] == 0
        assert seen["tcps_sndrexmitpack"] + seen["tcps_rexmttimeo"] > 0
        assert seen["tcps_rcvoopack"] > FLOWS * 22 * 0.005
