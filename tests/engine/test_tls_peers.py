"""The engine's TLS against others: nginx and openssl as servers, curl and openssl as clients."""

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.interop.bed import (
    HOST,
    HOST_ADDRESS,
    HOST_INTERFACE,
    Wire,
    engine_on,
    host_behind_router,
)
from stackcost.bed.local import LocalTestbed
from stackcost.contracts.http import P256, RSA, Certificate
from stackcost.contracts.program_settings import ProgramSettings
from stackcost.contracts.server import ServerSettings
from stackcost.contracts.tls import TlsSettings
from stackcost.host.namespace import execute
from stackcost.host.waiting import wait_until
from stackcost.servers.certificate import CERTIFICATE_FILE, KEY_FILE, make_certificate
from stackcost.trex.client import TrexClient
from tests.engine.nginx import nginx_on_host
from tests.servers.conftest import PLAIN

pytestmark = pytest.mark.bed

HTTP = Path(__file__).resolve().parents[2] / "trex_profiles" / "http_program.py"
NO_CLIENTS = 0
FULL, TICKETS = 443, 444  # nginx's ports: handshakes in full, and resumed ones
LENGTH = 100_000  # bytes of a response


@pytest.fixture(scope="module")
def bed() -> Iterator[LocalTestbed]:
    """A host behind a router that loses one in a hundred frames and holds back another."""
    with host_behind_router(Wire(loss=10, reordering=10)) as bed:
        yield bed


def of_tls(certificate: Certificate) -> ServerSettings:
    return replace(
        PLAIN,
        response_bytes=LENGTH,
        tls_port=FULL,
        resumption_port=TICKETS,
        program=ProgramSettings(certificate=certificate),
        tls=TlsSettings(),
    )


def open_flows(client: TrexClient, port: int, length: int, **tls: Any) -> dict[str, Any]:
    """Some 100 connections over TLS; what the engine tells of TLS on the client's side."""
    client.load_profile(HTTP, {"port": port, "response_bytes": length, "cps": 100})
    client.call("stackcost_set_tls", {"profile_id": "_", **tls})
    client.start(1, duration=1)
    client.wait_on_traffic(60)
    seen = client.stats()["traffic"]["client"]
    opened = seen["tcps_connattempt"]
    assert opened > 50
    assert seen["tcps_connects"] == seen["tcps_closed"] == opened
    assert seen["tcps_drops"] == seen["tcps_conndrops"] == 0
    (template,) = client.call("stackcost_get_tls", {"profile_id": "_"})["templates"]
    told: dict[str, Any] = template["client"]
    assert told["failed"] == 0
    assert told["handshakes_full"] + told["handshakes_resumed"] == opened
    assert told["received_bytes"] == opened * length
    latency = client.call("stackcost_get_latency", {"profile_id": "_"})["templates"][0]
    assert latency["tls_handshake"]["count"] == latency["completion"]["count"] == opened
    return told


# Before `bed`, as the router remembers the MAC address of one kind of port.
def test_what_a_kernel_puts_together_is_read_whole_from_packet_sockets(tmp_path: Path) -> None:
    with (
        host_behind_router(Wire()) as bed,
        nginx_on_host(bed, tmp_path / "nginx", of_tls(P256)) as server,
        engine_on(bed, tmp_path, server=False, kind="packet:") as client,
    ):
        execute(HOST, ["ethtool", "-K", HOST_INTERFACE, "gso", "on", "tso", "on"])
        told = open_flows(client, FULL, server.response_length(), version="1.3")
        assert told["cut_segments"] == 0
        # It was put together: a record alone takes twelve segments of 1,448 bytes.
        assert client.stats()["traffic"]["client"]["tcps_rcvpack"] < told["received_records"] * 4


@pytest.mark.parametrize("certificate", [P256, pytest.param(RSA, marks=pytest.mark.long)])
def test_every_flow_against_nginx_is_whole(
    bed: LocalTestbed, tmp_path: Path, certificate: Certificate
) -> None:
    with (
        nginx_on_host(bed, tmp_path / "nginx", of_tls(certificate)) as server,
        engine_on(bed, tmp_path, server=False) as client,
    ):
        length = server.response_length()
        # In TLS 1.2 a certificate of P-256 needs that group, too (RFC 8422 section 2.2).
        for version in ("1.2", "1.3"):
            alone = ["P-256"] if certificate == RSA and version == "1.3" else []
            for group in ["X25519:P-256", *alone]:
                told = open_flows(client, FULL, length, version=version, group=group)
                assert told["handshakes_resumed"] == 0
            told = open_flows(client, TICKETS, length, version=version, resumption=True)
            assert told["handshakes_resumed"] > 5 * told["handshakes_full"]


@pytest.mark.long
def test_openssl_as_the_server_asks_for_another_group(bed: LocalTestbed, tmp_path: Path) -> None:
    make_certificate(tmp_path, HOST_ADDRESS, P256)
    # It reads no request before it answers, so the length is that of its page of what it knows.
    command = ["openssl", "s_server", "-accept", f"{HOST_ADDRESS}:{FULL}", "-www", "-quiet"]
    files = ["-cert", CERTIFICATE_FILE, "-key", KEY_FILE, "-groups", "P-384", "-no_ticket"]
    peer = bed.run(HOST, [*command, *files], bed.cpus.server, cwd=tmp_path)
    try:
        with engine_on(bed, tmp_path, server=False) as client:
            client.load_profile(HTTP, {"port": FULL, "response_bytes": 500, "cps": 20})
            # The first share is of a group that the server has not: HelloRetryRequest.
            client.call("stackcost_set_tls", {"profile_id": "_", "group": "X25519:P-384"})
            client.start(1, duration=1)
            client.wait_on_traffic(60)
            (template,) = client.call("stackcost_get_tls", {"profile_id": "_"})["templates"]
            told = template["client"]
            opened = client.stats()["traffic"]["client"]["tcps_connattempt"]
            assert told["handshakes_full"] == opened > 10
            assert told["failed"] == 0
            assert told["received_bytes"] > opened * 500
    finally:
        peer.terminate()
        peer.wait()


def on_host(bed: LocalTestbed, command: list[str], given: str = "") -> str:
    program = bed.run(
        HOST,
        command,
        bed.cpus.server,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    said, _ = program.communicate(given, timeout=60)
    return str(said)


def test_curl_and_openssl_as_clients_get_whole_responses(bed: LocalTestbed, tmp_path: Path) -> None:
    with engine_on(bed, tmp_path, server=True) as client:
        for certificate in ("P-256", "RSA-2048"):
            client.load_profile(HTTP, {"port": FULL, "request_bytes": 48, "response_bytes": LENGTH})
            client.call(
                "stackcost_set_tls",
                {
                    "profile_id": "_",
                    "certificate": certificate,
                    "resumption": True,
                    "sni": "engine.test",
                    "alpn": "http/1.1",
                },
            )
            client.start(1, client_mask=NO_CLIENTS)
            for version in ("1.2", "1.3"):
                file = tmp_path / f"{certificate}-{version}"
                limits = [f"--tlsv{version}", "--tls-max", version, "--max-time", "40"]
                said = on_host(
                    bed, ["curl", "-sSki", *limits, "-o", str(file), "https://16.0.0.1/"]
                )
                assert not said
                response = file.read_bytes()
                assert len(response) == LENGTH
                assert response.startswith(b"HTTP/1.1 200 OK")
            again = ["openssl", "s_client", "-connect", "16.0.0.1:443", "-tls1_2", "-reconnect"]
            assert on_host(bed, again).count("\nReused, TLSv1.2") == 5
            (template,) = client.call("stackcost_get_tls", {"profile_id": "_"})["templates"]
            assert template["server"]["handshakes_full"] == 3
            assert template["server"]["handshakes_resumed"] == 5
            assert template["server"]["sent_bytes"] == 2 * LENGTH
            client.stop()


@pytest.mark.long
def test_a_client_that_does_not_trust_the_certificate_says_so(
    bed: LocalTestbed, tmp_path: Path
) -> None:
    with engine_on(bed, tmp_path, server=True) as client:
        client.load_profile(HTTP, {"port": FULL, "request_bytes": 48, "response_bytes": LENGTH})
        client.call("stackcost_set_tls", {"profile_id": "_"})
        client.start(1, client_mask=NO_CLIENTS)
        assert "self-signed" in on_host(bed, ["curl", "-sS", "https://16.0.0.1/"])

        def told() -> dict[str, Any]:
            (template,) = client.call("stackcost_get_tls", {"profile_id": "_"})["templates"]
            return dict(template["server"])

        assert wait_until(lambda: told()["failed"] == 1, 5)
        assert told()["alerts_received"] == {"unknown CA": 1}
        client.stop()
