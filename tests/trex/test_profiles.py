"""What the profiles ask of a server, as TRex's own client renders them."""

import ast
import base64
import sys
from pathlib import Path
from typing import Any

import pytest

from stackcost.contracts.errors import StackcostError
from stackcost.trex.client import TrexClient
from tests.trex.conftest import PROFILES

ALL = sorted(PROFILES.glob("*.py"))


def expanded(profile: dict[str, Any]) -> dict[str, Any]:
    """The profile with every buffer written out, however it was put."""
    buffers = []
    for buffer in profile["buf_list"]:
        if isinstance(buffer, str):
            buffers.append(base64.b64decode(buffer))
        else:
            head, fill = (base64.b64decode(buffer[key]) for key in ("base", "fill"))
            buffers.append(head + fill * (buffer["size"] - len(head)))
    return {**profile, "buf_list": buffers}


def test_both_http_forms_are_the_same_traffic(client: TrexClient) -> None:
    capture = client.profile_json(PROFILES / "http_cap.py", {"cps": 5, "port": 8080})
    program = client.profile_json(PROFILES / "http_program.py", {"cps": 5, "port": 8080})
    assert expanded(capture) == expanded(program)


HTTP = ("http_cap", "http_hold", "http_keepalive", "http_program")


@pytest.mark.parametrize("name", HTTP)
def test_both_sides_have_tcp_as_servers_have_it_today_or_as_published(
    client: TrexClient, name: str
) -> None:
    def tcp(**tunables: str) -> list[dict[str, Any]]:
        profile = client.profile_json(PROFILES / f"{name}.py", tunables)
        found = [dict(profile[side]["tcp"]) for side in ("c_glob_info", "s_glob_info")]
        for side in found:
            side.pop("keepidle", None)  # flows that are held send no probes
        return found

    today = {"initwnd": 10, "delay_ack_msec": 100, "no_delay": 1, "no_delay_counter": 2 * 1448}
    assert tcp() == tcp(tcp="today") == [today, today]
    assert tcp(tcp="published") == [{"initwnd": 2, "delay_ack_msec": 100}] * 2


def test_http_addresses_are_the_published_beds(client: TrexClient) -> None:
    profile = client.profile_json(PROFILES / "http_program.py")
    clients, servers = profile["ip_gen_dist_list"]
    assert (clients["ip_start"], clients["ip_end"]) == ("16.0.0.1", "16.0.0.200")
    assert (servers["ip_start"], servers["ip_end"]) == ("48.0.0.1", "48.0.0.1")


@pytest.mark.parametrize("size", [100, 133, 167, 168, 1067, 1068, 33_005, 10_485_760])
def test_response_is_as_long_as_asked(client: TrexClient, size: int) -> None:
    tunables = {"response_bytes": size, "request_bytes": 64}
    profile = expanded(client.profile_json(PROFILES / "http_program.py", tunables))
    request, response = profile["buf_list"]
    assert (len(request), len(response)) == (64, size)
    head, _, body = response.partition(b"\r\n\r\n")
    assert head.endswith(f"Content-Length: {len(body)}".encode())
    receive = profile["program_list"][0]["commands"][1]
    assert receive == {"name": "rx", "min_bytes": size}


def test_hold_opens_a_limit_of_flows_and_lets_the_client_close(client: TrexClient) -> None:
    tunables = {"flows": 2000, "hold_seconds": 30, "cps": 1000}
    profile = client.profile_json(PROFILES / "http_hold.py", tunables)
    (template,) = profile["templates"]
    assert template["client_template"]["limit"] == 2000
    client_side, server_side = (program["commands"] for program in profile["program_list"])
    assert [command["name"] for command in client_side] == ["tx", "rx", "delay"]
    assert client_side[-1]["usec"] == 30_000_000
    assert [command["name"] for command in server_side] == ["rx", "tx", "nc"]


def test_hold_refuses_a_hold_shorter_than_its_ramp(client: TrexClient) -> None:
    tunables = {"flows": 2000, "hold_seconds": 2, "cps": 1000}
    with pytest.raises(StackcostError, match="first flow would close before the last opens"):
        client.profile_json(PROFILES / "http_hold.py", tunables)


def test_udp_echo_returns_the_payload(client: TrexClient) -> None:
    profile = expanded(client.profile_json(PROFILES / "udp_echo.py", {"payload_bytes": 1400}))
    assert [len(buffer) for buffer in profile["buf_list"]] == [1400]
    names = [[command["name"] for command in p["commands"]] for p in profile["program_list"]]
    assert names == [["tx_msg", "rx_msg"], ["rx_msg", "tx_msg"]]
    assert not any(program["stream"] for program in profile["program_list"])


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_profile_needs_nothing_but_python_and_trex(path: Path) -> None:
    imported = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(str(node.module))
    assert "trex.astf.api" in imported
    assert imported - {"trex.astf.api"} <= sys.stdlib_module_names


@pytest.mark.parametrize(
    ("tunables", "message"),
    [
        ({"request_bytes": 10}, r"request_bytes must be at least 48 .*http_program.py, line \d+"),
        ({"response_bytes": 20}, "response_bytes cannot be 20"),
        ({"port": "http"}, "argument --port: invalid int value: 'http'"),
        ({"colour": 1}, "unrecognized arguments: --colour 1"),
    ],
)
def test_wrong_tunable_is_named(client: TrexClient, tunables: Any, message: str) -> None:
    with pytest.raises(StackcostError, match=message) as caught:
        client.profile_json(PROFILES / "http_program.py", tunables)
    assert "Traceback" not in str(caught.value)


def test_broken_profile_is_named_with_its_line(client: TrexClient, tmp_path: Path) -> None:
    (tmp_path / "crooked.py").write_text("from trex.astf.api import *\ndef register(:\n")
    with pytest.raises(StackcostError, match=r"SyntaxError: .*crooked.py, line 2"):
        client.profile_json(tmp_path / "crooked.py")


def test_missing_profile_is_named(client: TrexClient, tmp_path: Path) -> None:
    with pytest.raises(StackcostError, match=r"absent.py' does not exist"):
        client.profile_json(tmp_path / "absent.py")
