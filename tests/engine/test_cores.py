"""Several data cores on one port: each frame reaches the core that has its flow."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.interop.bed import Wire, engine_on, host_behind_router
from stackcost.bed.local import LocalTestbed
from stackcost.servers.registry import server_class
from tests.engine.nginx import nginx_on_host

NginxKernel = server_class("nginx/kernel")

pytestmark = pytest.mark.bed

HTTP = Path(__file__).resolve().parents[2] / "trex_profiles" / "http_program.py"
FLOWS = 1000


@pytest.fixture(scope="module")
def bed() -> Iterator[LocalTestbed]:
    with host_behind_router(Wire()) as made:
        yield made


@pytest.fixture(scope="module")
def nginx(bed: LocalTestbed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NginxKernel]:
    with nginx_on_host(bed, tmp_path_factory.mktemp("nginx")) as server:
        yield server


def test_every_flow_of_two_cores_is_whole(
    bed: LocalTestbed, nginx: NginxKernel, tmp_path: Path
) -> None:
    """The kernel spreads what packet sockets receive by a hash of its own: half is handed over."""
    with engine_on(bed, tmp_path, server=False, kind="packet:", cores=2) as client:
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
    assert (
        "frames reach their data core over rings in memory"
        in (tmp_path / "engine-test.log").read_text()
    )
