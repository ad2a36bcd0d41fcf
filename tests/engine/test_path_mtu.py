"""A path whose MTU is smaller than the engine's port allows, behind a router on Linux.

Both ends say in their SYNs that they take segments for 1,500 bytes, so that only the router's
messages tell of less (RFC 1191, RFC 8201).
"""

from pathlib import Path

import pytest

from engine.interop.bed import HOST, Wire, engine_on, host_behind_router
from engine.interop.cell import SACK, SCALING, TIMESTAMPS, Cell, run_cell
from stackcost.host.namespace import execute

pytestmark = pytest.mark.bed

MTU = 1400
FLOWS, SIZE = 5, 160_000  # bytes each way

# The host itself sends what fits, and offers what would fit its own interface.
HOST_ROUTE = f"route change default via 198.19.0.1 mtu {MTU} advmss 1460"
HOST_ROUTE_V6 = f"-6 route change default via fd00:5c::1 mtu {MTU} advmss 1440"


@pytest.mark.parametrize(
    "ipv6", [pytest.param(False, id="IPv4", marks=pytest.mark.long), pytest.param(True, id="IPv6")]
)
def test_all_bytes_pass_a_router_with_a_smaller_mtu(ipv6: bool, tmp_path: Path) -> None:
    with host_behind_router(Wire(), ipv6) as bed:
        execute(bed.server_namespace, ["ip", "link", "set", "sc-in0", "mtu", str(MTU)])
        execute(HOST, ["ip", *(HOST_ROUTE_V6 if ipv6 else HOST_ROUTE).split()])
        for server in (True, False):
            folder = tmp_path / ("server" if server else "client")
            folder.mkdir()
            with engine_on(bed, folder, server) as client:
                cell = Cell(server, TIMESTAMPS | SACK | SCALING, SIZE, FLOWS, ipv6=ipv6)
                assert run_cell(cell, bed, client)["fault"] is None
                port = client.call("stackcost_get_drops", {})["cores"][int(server)]
                assert port["path_mtu"]["accepted"] > 0
                assert port["path_mtu"]["least"] == MTU


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("", id="AF_XDP"),
        pytest.param("packet:", id="packet socket", marks=pytest.mark.long),
    ],
)
def test_segments_fit_a_port_with_a_smaller_mtu(kind: str, tmp_path: Path) -> None:
    """The host offers segments for 1,500 bytes, and both ends send what the link carries."""
    with host_behind_router(Wire()) as bed:
        for namespace, interface in (
            (bed.load_namespace, bed.load_interface),
            (bed.server_namespace, bed.server_interface),
        ):
            execute(namespace, ["ip", "link", "set", interface, "mtu", str(MTU)])
        for server in (True, False):
            folder = tmp_path / ("server" if server else "client")
            folder.mkdir()
            with engine_on(bed, folder, server, kind=kind) as client:
                cell = Cell(server, TIMESTAMPS | SACK | SCALING, SIZE, FLOWS)
                seen = run_cell(cell, bed, client)
                assert seen["fault"] is None
                assert seen["engine_counters"].get("tcps_sndrexmitpack", 0) == 0
                assert seen["kernel_retransmitted_segments"] == 0
                port = client.call("stackcost_get_drops", {})["cores"][int(server)]
                assert port["reasons"]["frame_refused"] == 0
                assert port["path_mtu"]["accepted"] == 0
                (notice,) = client.call("stackcost_get_notices", {"profile_id": "_"})["notices"]
                assert notice.endswith(f"the MTU of port {int(server)}, {MTU}, leaves 1360")
