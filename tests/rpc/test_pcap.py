"""A file of what a port sends and receives, read back by scapy."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from scapy.all import IP, TCP, PcapReader

from stackcost.contracts.errors import StackcostError
from stackcost.trex.astf_server import AstfServer
from stackcost.trex.client import TrexClient
from tests.trex.conftest import PROFILES, client_of, wire_config

RESPONSE_BYTES = 20_000
TIMEOUT_S = 30.0


class Capturing(AstfServer):
    """An engine that may write captures into the folder of its log."""

    @property
    def argv(self) -> list[str]:
        """With the folder."""
        return [*super().argv, "--pcap-folder", str(self._log.parent)]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TrexClient]:
    folder = tmp_path_factory.mktemp("captures")
    with Capturing(wire_config(), folder) as engine, client_of(engine.config) as connected:
        connected.connect()
        connected.reset()
        yield connected


def test_a_file_holds_every_frame_that_the_port_counts(client: TrexClient) -> None:
    def counted() -> int:
        port = client.stats()["1"]
        return int(port["opackets"] + port["ipackets"])

    client.load_profile(PROFILES / "http_program.py", {"response_bytes": RESPONSE_BYTES})
    began, before = time.time(), counted()
    client.call("stackcost_start_pcap", {"port_id": 1, "file": "all.pcap"})
    client.start(40, 0.5)
    client.wait_on_traffic(TIMEOUT_S)
    written = client.call("stackcost_stop_pcap", {"port_id": 1})
    assert written["frames"] == counted() - before
    assert written["lost"] == 0
    path = Path(written["file"])
    assert path.stat().st_size == written["bytes"]
    with PcapReader(str(path)) as reader:
        assert reader.nano
        frames = list(reader)
    assert len(frames) == written["frames"]
    times = [float(frame.time) for frame in frames]
    assert times == sorted(times)
    assert began - 1 < times[0] < times[-1] < time.time() + 1
    flows = client.stats()["traffic"]["client"]["tcps_connects"]
    assert sum(frame[TCP].flags == "S" for frame in frames) == flows > 0
    sent = sum(frame[IP].len - 40 for frame in frames if frame[TCP].sport == 80)
    assert sent >= flows * RESPONSE_BYTES


def test_a_refused_start_under_traffic_leaves_the_engine_serving(client: TrexClient) -> None:
    client.call("stackcost_start_pcap", {"port_id": 1, "file": "there.pcap"})
    client.call("stackcost_stop_pcap", {"port_id": 1})
    client.load_profile(PROFILES / "http_program.py", {"response_bytes": RESPONSE_BYTES})
    client.start(500)
    try:
        for _ in range(50):
            with pytest.raises(StackcostError, match="File exists"):
                client.call("stackcost_start_pcap", {"port_id": 1, "file": "there.pcap"})
        client.call("stackcost_start_pcap", {"port_id": 1, "file": "other.pcap"})
        assert client.call("stackcost_stop_pcap", {"port_id": 1})["state"] == "writing"
    finally:
        client.stop()


def test_a_name_that_leads_elsewhere_is_refused(client: TrexClient) -> None:
    with pytest.raises(StackcostError, match="without a folder"):
        client.call("stackcost_start_pcap", {"port_id": 0, "file": "../all.pcap"})
