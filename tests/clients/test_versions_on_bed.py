"""Servers over TLS by each version of HTTP on the real test bed: counts, tickets, certificates."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from stackcost.bed.client_addresses import FIRST_USER, addresses_of, client_addresses
from stackcost.bed.local import LocalTestbed
from stackcost.clients import Addresses, Clients, LoadRequest, LoadResult, program
from stackcost.clients.http3 import Http3Client
from stackcost.contracts.addresses import SERVICE_ADDRESS
from stackcost.contracts.http import HttpVersion
from stackcost.contracts.server import Server
from stackcost.experiment.read_file import read_experiment
from stackcost.host.namespace import execute
from stackcost.servers.registry import SHIPPED, server_class
from stackcost.session.server_settings import server_settings
from tests.servers.conftest import started

pytestmark = pytest.mark.bed

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"
TLS = read_experiment(EXPERIMENTS / "tls.yaml")  # before a bed narrows the cores that `auto` sees
OWN = addresses_of("16.0.0.1-16.0.0.2", 1)
SECURE = f"https://{SERVICE_ADDRESS}:443"
PATH = ("/1000.bin",)
FILES = {"/0.bin": 0, "/1000.bin": 1000}
# Programs of packages that are not on every machine are tested where they are.
INSTALLED = [
    name
    for name in SHIPPED
    if name.startswith(("lighttpd-", "caddy/", "envoy/", "rustls/"))
    and not server_class(name).lacks()
]
BUILT = ["rustls/kernel"]
USUAL = ["nginx/kernel", "haproxy/kernel"]
WITH_HTTP3 = [
    name
    for name in INSTALLED
    if not server_class(name).lacks_version("3") and not Http3Client().lacks()
]


@pytest.fixture(scope="module")
def bed() -> Iterator[LocalTestbed]:
    with LocalTestbed(wanted_hugepages=0) as bed, client_addresses(OWN, SERVICE_ADDRESS):
        yield bed


def sent(bed: LocalTestbed, name: str, request: LoadRequest, folder: Path) -> LoadResult:
    addresses = Addresses(FIRST_USER, OWN)
    with Clients(
        program(name), [request], bed.load_namespace, bed.cpus.load, addresses, folder
    ) as clients:
        return clients.wait()[0]


def sent_bytes(bed: LocalTestbed) -> int:
    """What the server's interface sent since it was made."""
    lines = execute(bed.server_namespace, ["cat", "/proc/net/dev"]).splitlines()
    (own,) = [line for line in lines if bed.server_interface in line]
    return int(own.split()[9])


def of(name: str, bed: LocalTestbed, folder: Path, versions: tuple[HttpVersion, ...]) -> Server:
    kind = server_class(name)
    settings = replace(server_settings(TLS, kind), http_versions=versions, files=FILES)
    return kind.make(bed.endpoint(folder), settings)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    "name", [*USUAL, *(pytest.param(name, marks=pytest.mark.long) for name in INSTALLED)]
)
def test_every_server_speaks_each_version_over_tls_and_counts_its_requests(
    bed: LocalTestbed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """In a folder that is named relative to here, as the default `results` is."""
    monkeypatch.chdir(tmp_path)
    with started(of(name, bed, Path("server"), ("1.1", "2"))) as server:
        for version in ("1.1", "2"):
            request = LoadRequest(SECURE, PATH, 2, True, 1, rate=100.0, version=version)
            before = server.requests_served()
            told = sent(bed, "h2load", request, tmp_path / version)
            after = server.requests_served()
            printed = (tmp_path / version / "h2load-0" / "output").read_text()
            spoken = {"1.1": "http/1.1", "2": "h2"}[version]
            assert f"Application protocol: {spoken}" in printed
            assert told.requests > 50 and not told.failed
            if before is not None and after is not None:
                assert 0 <= after - before - told.requests <= 2
        # Full handshakes are ab's, which speaks HTTP/1.0.
        told = sent(bed, "ab", LoadRequest(SECURE, PATH, 2, False, 1), tmp_path / "ab")
        assert told.requests > 5 and not told.failed


@pytest.mark.parametrize("name", WITH_HTTP3)
@pytest.mark.parametrize("kept", [pytest.param(True, marks=pytest.mark.long), False])
def test_http_3_is_answered_on_udp(
    bed: LocalTestbed, tmp_path: Path, name: str, kept: bool
) -> None:
    with started(of(name, bed, tmp_path / "server", ("1.1", "3"))):
        request = LoadRequest(SECURE, PATH, 2, kept, 2, rate=10.0, version="3")
        told = sent(bed, "h3client", request, tmp_path)
        assert told.requests >= 10 and not told.failed and told.received == 1000 * told.requests
        assert "completion" in told.times


@pytest.mark.timeout(1800)  # rustls' program may have to be built
@pytest.mark.parametrize(
    "name",
    [*USUAL, *(pytest.param(name, marks=pytest.mark.long) for name in INSTALLED if name in BUILT)],
)
def test_the_port_with_tickets_lets_wrk_resume_and_the_other_does_not(
    bed: LocalTestbed, tmp_path: Path, name: str
) -> None:
    """A full handshake sends the certificate; a resumed one does not (RFC 8446, section 2.2)."""
    sizes = {}
    with started(of(name, bed, tmp_path / "server", ("1.1",))):
        for port in (443, 444):
            request = LoadRequest(f"https://{SERVICE_ADDRESS}:{port}", PATH, 2, False, 1)
            before = sent_bytes(bed)
            told = sent(bed, "wrk", request, tmp_path / str(port))
            assert told.requests > 5 and not told.failed
            sizes[port] = (sent_bytes(bed) - before) / told.requests
    assert sizes[443] - sizes[444] > 300, sizes
