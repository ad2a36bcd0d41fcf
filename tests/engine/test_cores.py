"""Several data cores on one port: each frame reaches the core that has its flow."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine.interop.bed import (
    HOST,
    HOST_ADDRESS,
    HOST_INTERFACE,
    LOAD_ADDRESS,
    SERVER_ADDRESS,
    Wire,
    host_behind_router,
)
from stackcost.contracts.endpoint import Endpoint
from stackcost.contracts.placement import Placement
from stackcost.harness.bed.local import LocalTestbed
from stackcost.host.kernel_stack import Kernel
from stackcost.host.namespace import spawner
from stackcost.servers.nginx_kernel import NginxKernel
from stackcost.trex.client import TrexClient
from stackcost.trex.generator import Generator
from stackcost.trex.trex_config import Port, TrexConfig

pytestmark = pytest.mark.bed

HTTP = Path(__file__).resolve().parents[2] / "trex_profiles" / "http_program.py"
FLOWS = 1000


@contextmanager
def two_cores(bed: LocalTestbed, folder: Path, kind: str) -> Iterator[tuple[TrexClient, Path]]:
    """A client with two data cores on the load's interface, and its log. They share CPUs."""
    ports = (Port(kind + bed.load_interface, LOAD_ADDRESS, SERVER_ADDRESS), Port("dummy"))
    (cpu,) = bed.cpus.load
    config = TrexConfig("engine-test", ports, (cpu, cpu, cpu))
    assert config.data_cores == 2
    spawn = spawner(bed.load_namespace, bed.cpus.load)
    with Generator(config, folder, spawn), TrexClient(spawn) as client:
        client.connect()
        client.reset()
        bed.steer()
        yield client, folder / "engine-test.log"


@pytest.fixture(scope="module")
def bed() -> Iterator[LocalTestbed]:
    with host_behind_router(Wire()) as made:
        yield made


@pytest.fixture(scope="module")
def nginx(bed: LocalTestbed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NginxKernel]:
    folder = tmp_path_factory.mktemp("nginx")
    cpus = bed.cpus.server
    stack = Kernel(Placement(HOST, HOST_INTERFACE, cpus, folder, (HOST_ADDRESS, 80)))
    server = NginxKernel(Endpoint(HOST, HOST_INTERFACE, HOST_ADDRESS, 80, cpus, folder, stack))
    server.start()
    try:
        yield server
    finally:
        server.stop()


def test_every_flow_of_two_cores_is_whole(
    bed: LocalTestbed, nginx: NginxKernel, tmp_path: Path
) -> None:
    """The kernel spreads what packet sockets receive by a hash of its own: half is handed over."""
    with two_cores(bed, tmp_path, "packet:") as (client, log):
        length = nginx.response_length()
        client.load_profile(HTTP, {"response_bytes": length, "cps": 500})
        client.start(1, duration=FLOWS / 500 + 0.11)
        client.wait_on_traffic(60)
        seen = client.stats()["traffic"]["client"]
        assert seen["tcps_connattempt"] >= FLOWS * 0.9
        assert seen["tcps_connects"] == seen["tcps_closed"] == seen["tcps_connattempt"]
        assert seen["tcps_rcvbyte"] == seen["tcps_connattempt"] * length
        assert seen["tcps_drops"] == seen["tcps_conndrops"] == seen.get("err_cwf", 0) == 0
        assert seen["rss_redirect_rx"] == seen["rss_redirect_tx"] > FLOWS
        assert seen.get("rss_redirect_drops", 0) == 0
    assert "frames reach their data core over rings in memory" in log.read_text()
