"""The client programs themselves against nginx on the real test bed, over HTTP and HTTPS."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram

from stackcost.bed.client_addresses import FIRST_USER, addresses_of, client_addresses
from stackcost.bed.local import LocalTestbed
from stackcost.bed.network import SERVER_NAMESPACE
from stackcost.clients import Addresses, Clients, LoadRequest, program
from stackcost.clients.clients import counts_of, latency_of
from stackcost.contracts.addresses import SERVICE_ADDRESS
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.program_settings import ProgramSettings
from stackcost.contracts.server import ServerSettings
from stackcost.host.namespace import execute
from stackcost.servers.registry import server_class

NginxKernel = server_class("nginx/kernel")

FILES = {"/0.bin": 0, "/1000.bin": 1000, "/30000.bin": 30_000}
OWN = addresses_of("16.0.0.1-16.0.0.3", 2)
PLAIN, TLS = f"http://{SERVICE_ADDRESS}:80", f"https://{SERVICE_ADDRESS}:443"

pytestmark = pytest.mark.bed


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LocalTestbed, NginxKernel]]:
    folder = tmp_path_factory.mktemp("bed")
    with LocalTestbed(wanted_hugepages=0) as bed:
        nginx = NginxKernel(
            bed.endpoint(folder),
            ServerSettings(
                response_bytes=0,
                program=ProgramSettings(worker_connections=512),
                request=b"GET /0.bin HTTP/1.1\r\nHost: 48.0.0.1\r\n\r\n",
                files=FILES,
                tls_port=443,
            ),
        )
        nginx.start()
        try:
            with client_addresses(OWN, SERVICE_ADDRESS):
                yield bed, nginx
        finally:
            nginx.stop()


def clients(bed: LocalTestbed, name: str, request: LoadRequest, folder: Path) -> Clients:
    addresses = Addresses(FIRST_USER, OWN)
    return Clients(
        program(name), [request, request], bed.load_namespace, bed.cpus.load, addresses, folder
    )


def test_a_stack_that_knows_no_user_ids_has_a_route_to_the_server(
    served: tuple[LocalTestbed, NginxKernel],
) -> None:
    """Onload leaves a connection without a route of the main table to the kernel."""
    bed, _ = served
    route = execute(bed.load_namespace, ["ip", "route", "get", SERVICE_ADDRESS])
    assert f"dev {bed.load_interface} src {OWN[0]} " in route


@pytest.mark.parametrize(
    ("name", "url", "kept", "rate"),
    [
        ("wrk", TLS, False, None),
        ("wrk", PLAIN, True, None),
        ("ab", TLS, True, None),
        ("h2load", PLAIN, True, 500.0),
        ("h2load", TLS, False, 100.0),
    ],
)
def test_what_clients_count_is_what_the_server_served(
    served: tuple[LocalTestbed, NginxKernel],
    tmp_path: Path,
    name: str,
    url: str,
    kept: bool,
    rate: float | None,
) -> None:
    bed, nginx = served
    request = LoadRequest(url, ("/1000.bin",), connections=4, kept=kept, seconds=1, rate=rate)
    before = nginx.requests_served()
    with clients(bed, name, request, tmp_path) as going:
        told = going.wait()
        spent = going.cpu_seconds()
    after = nginx.requests_served()
    assert before is not None and after is not None
    together = counts_of(told, "", spent)
    assert not together.failed and together.requests > 10
    assert 0 <= after - before - together.requests <= 2 * 4, "those under way at the end"
    assert all(each.received >= each.requests * 1000 for each in told)
    assert spent["user"] + spent["system"] > 0
    for kind, text in latency_of(told).items():
        count = HdrHistogram.decode(text).get_total_count()
        assert count >= together.requests - 2 * 4, kind
    assert ("completion" in latency_of(told)) == (rate is not None)


def test_each_process_has_its_own_address(
    served: tuple[LocalTestbed, NginxKernel], tmp_path: Path
) -> None:
    bed, _ = served
    request = LoadRequest(PLAIN, ("/0.bin",), connections=2, kept=False, seconds=1)
    with clients(bed, "wrk", request, tmp_path) as going:
        going.wait()
    ended = execute(SERVER_NAMESPACE, ["ss", "-Hnt", "state", "time-wait"])
    peers = {line.split()[-1].rpartition(":")[0] for line in ended.splitlines()}
    assert peers - {SERVICE_ADDRESS} == set(OWN), "the service's own address has our probes"


@pytest.mark.parametrize("name", ["wrk", "h2load"])
def test_several_paths_are_asked_for_in_turn(
    served: tuple[LocalTestbed, NginxKernel], tmp_path: Path, name: str
) -> None:
    bed, _ = served
    rate = 600.0 if name == "h2load" else None
    paths = ("/1000.bin", "/30000.bin")
    request = LoadRequest(PLAIN, paths, connections=2, kept=True, seconds=1, rate=rate)
    with clients(bed, name, request, tmp_path) as going:
        together = counts_of(going.wait(), "", going.cpu_seconds())
    mean = together.bits_per_second / 8 / together.rate
    assert mean == pytest.approx((1000 + 30_000) / 2, rel=0.1)


def test_a_client_that_is_killed_is_named_and_the_others_end(
    served: tuple[LocalTestbed, NginxKernel], tmp_path: Path
) -> None:
    bed, _ = served
    request = LoadRequest(PLAIN, ("/0.bin",), connections=2, kept=True, seconds=20)
    with clients(bed, "wrk", request, tmp_path) as going:
        first, second = going.process_ids
        assert going.all_run()

        os.kill(first, signal.SIGKILL)
        with pytest.raises(StackcostError, match=r"client 0 \(wrk\) ended with exit status -9"):
            for _ in range(10_000):
                going.all_run()
    assert not Path(f"/proc/{second}").exists()
