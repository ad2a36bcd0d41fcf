"""The client's process: how its faults reach the harness, and the real client on a real engine."""

import os
import subprocess
import sys
from concurrent.futures import Future

import pytest

from stackcost.contracts.errors import StackcostError
from stackcost.host.waiting import wait_until
from stackcost.trex.astf_server import AstfServer
from stackcost.trex.client import TrexClient
from tests.trex.conftest import PROFILES, alive, free_ports


def test_no_server_is_an_error() -> None:
    rpc_port, async_port = free_ports()
    with TrexClient(rpc_port=rpc_port, async_port=async_port) as client:
        with pytest.raises(StackcostError, match=f"connect: .*{rpc_port}"):
            client.connect()
        with pytest.raises(StackcostError, match=r"reset: .*disconnected"):
            client.reset()


def test_death_of_the_client_is_an_error() -> None:
    with TrexClient() as client:
        client.profile_json(PROFILES / "http_program.py")
        os.kill(client.process_id, 9)
        with pytest.raises(StackcostError, match=r"stats: .* ended with exit status -9"):
            client.stats()


def test_reply_of_an_interrupted_call_is_passed_over(client: TrexClient) -> None:
    http, udp = PROFILES / "http_program.py", PROFILES / "udp_echo.py"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Future, "result", interrupt)
        with pytest.raises(KeyboardInterrupt):
            client.profile_json(http)
    assert len(client.profile_json(udp)["buf_list"]) == 1


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_closing_leaves_no_process_and_a_closed_client_says_so() -> None:
    client = TrexClient()
    client.profile_json(PROFILES / "http_program.py")
    client.close()
    assert not alive(client.process_id)
    client.close()
    with pytest.raises(StackcostError, match="stop: the TRex client is closed"):
        client.stop()


@pytest.mark.parametrize("profile", ["http_program.py", "http_cap.py", "udp_echo.py"])
def test_every_flow_completes(connected: TrexClient, profile: str) -> None:
    connected.load_profile(PROFILES / profile)
    connected.start(mult=200, duration=1)
    connected.update(400)
    connected.wait_on_traffic(timeout=10)
    client, server = (connected.stats()["traffic"][side] for side in ("client", "server"))
    kind = "udps" if profile == "udp_echo.py" else "tcps"
    assert client[f"{kind}_connects"] == client[f"{kind}_closed"] > 100
    assert client[f"{kind}_connects"] == server[f"{kind}_accepts"] == server[f"{kind}_closed"]
    assert client[f"{kind}_sndbyte"] == server[f"{kind}_rcvbyte"]
    assert client[f"{kind}_rcvbyte"] == server[f"{kind}_sndbyte"]
    assert client["m_active_flows"] == server["m_active_flows"] == 0


def test_hold_keeps_exactly_its_flows_open_and_ends_clean(connected: TrexClient) -> None:
    tunables = {"flows": 300, "cps": 600, "hold_seconds": 3, "response_bytes": 2000}
    connected.load_profile(PROFILES / "http_hold.py", tunables)
    connected.start(mult=1)
    # They are open together for 2.5 s; a busy machine begins them later.
    all_open = wait_until(
        lambda: connected.stats()["traffic"]["client"].get("m_est_flows", 0) >= 300, 10
    )
    client, server = (connected.stats()["traffic"][side] for side in ("client", "server"))
    assert all_open and client["m_est_flows"] == client["tcps_connects"] == 300
    assert server["m_active_flows"] == 300
    connected.wait_on_traffic(timeout=15)
    client, server = (connected.stats()["traffic"][side] for side in ("client", "server"))
    assert client["tcps_connects"] == client["tcps_closed"] == server["tcps_closed"] == 300
    assert client["tcps_testdrops"] == server["tcps_testdrops"] == 0


def test_stop_ends_endless_traffic(connected: TrexClient) -> None:
    connected.load_profile(PROFILES / "http_program.py")
    connected.start(mult=100)
    assert connected.is_traffic_active()
    connected.clear_stats()
    connected.stop()
    assert not connected.is_traffic_active()
    with pytest.raises(StackcostError, match="update: "):
        connected.update(5)


def test_wait_has_a_limit(connected: TrexClient) -> None:
    connected.load_profile(PROFILES / "http_program.py")
    connected.start(mult=1)
    with pytest.raises(StackcostError, match=r"did not end within 0.3 s"):
        connected.wait_on_traffic(timeout=0.3)
    connected.stop()


def test_methods_beyond_trex(connected: TrexClient) -> None:
    assert connected.supports("start")
    assert not connected.supports("make_coffee")
    with pytest.raises(StackcostError, match="make_coffee"):
        connected.call("make_coffee", {})
    assert connected.supports("stackcost_get_cpu")
    assert connected.call("stackcost_get_cpu", {})["cores"]


WITHOUT_TLS = """
import os, sys
from pathlib import Path
from stackcost.trex.astf_client import AstfClient
from stackcost.trex.trex_api import open_trex_api

open_trex_api()
client = AstfClient("127.0.0.1", int(sys.argv[1]), int(sys.argv[2]), 10)
client.connect()
client.reset()
client.load_profile(Path(sys.argv[3]), tls={"version": "1.3"})
client._methods -= {"stackcost_set_tls"}  # as a TRex answers
client.load_profile(Path(sys.argv[3]))
try:
    client.load_profile(Path(sys.argv[3]), tls={})
except Exception as error:
    print(error, flush=True)
client.disconnect()
os._exit(0)
"""


def test_tls_on_a_server_without_it_is_refused(engine: AstfServer) -> None:
    ports = [str(engine.config.rpc_port), str(engine.config.async_port)]
    command = [sys.executable, "-c", WITHOUT_TLS, *ports, str(PROFILES / "http_program.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert "this generator has no TLS" in done.stdout, done.stderr
