"""Whatever arrives at the RPC port gets the protocol's error, and the engine serves on."""

import json
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zmq

from stackcost.trex.astf_server import AstfServer

MAGIC = 0xABE85CEA


@pytest.fixture
def socket(engine: AstfServer) -> Iterator[zmq.Socket[bytes]]:
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    socket = context.socket(zmq.REQ)
    socket.setsockopt(zmq.RCVTIMEO, 60_000)
    socket.setsockopt(zmq.LINGER, 0)
    socket.connect(f"tcp://127.0.0.1:{engine.config.rpc_port}")
    yield socket
    socket.close()
    context.term()


def ask(socket: zmq.Socket[bytes], message: bytes) -> Any:
    socket.send(message)
    return json.loads(socket.recv())


def peak_bytes(engine: AstfServer) -> int:
    """The most memory that the engine ever had (VmHWM, proc(5))."""
    status = Path(f"/proc/{engine.process_id}/status").read_text()
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


def request(method: str, **params: Any) -> bytes:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return json.dumps(body).encode()


def frame(text: bytes, length: int | None = None) -> bytes:
    told = len(text) if length is None else length
    return struct.pack(">II", MAGIC, told) + zlib.compress(text)


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (b"", -32700),
        (b"not JSON", -32700),
        (b"\x00" * 100, -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}', -32700),
        (b"[" * 900_000, -32700),
        (b'{"a":' * 150_000, -32700),
        (struct.pack(">II", MAGIC, 10) + b"not zlib", -32700),
        (frame(b"{}", length=5), -32700),
        (frame(b"\x00" * 50_000_000, length=1000), -32700),
        (frame(b"\x00" * 50_000_000), -32603),
        (struct.pack(">II", MAGIC, 0xFFFFFFFF), -32603),
        (b"x" * 999_999, -32700),
        (b"[]", -32600),
        (b"7", -32600),
        (b'{"jsonrpc":"2.0","method":"ping"}', -32600),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":7}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"no\\u0000such"}', -32601),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32602),
        (request("api_sync_v2", name="ASTF", major="2", minor=3), -32602),
        (request("api_sync_v2", name="ASTF", major=2), -32602),
        (request("api_sync_v2", name="STL", major=2, minor=3), -32000),
        (request("get_system_info", api_h={"deep": [1]}), -32000),
    ],
)
def test_error_by_protocol(
    engine: AstfServer, socket: zmq.Socket[bytes], message: bytes, code: int
) -> None:
    assert ask(socket, message)["error"]["code"] == code
    assert "ts" in ask(socket, request("ping"))["result"]
    engine.check()


def test_a_message_that_is_too_long_is_not_received(
    engine: AstfServer, socket: zmq.Socket[bytes]
) -> None:
    before = peak_bytes(engine)
    with zmq.Context() as context, context.socket(zmq.REQ) as flood:
        flood.setsockopt(zmq.LINGER, 0)
        ended = flood.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        flood.connect(f"tcp://127.0.0.1:{engine.config.rpc_port}")
        flood.send(b"x" * 60_000_000)
        assert ended.poll(20_000), "the engine goes on receiving"
        flood.disable_monitor()
    assert "ts" in ask(socket, request("ping"))["result"]
    assert peak_bytes(engine) - before < 10_000_000


def test_a_batch_without_ownership_takes_no_more_than_its_budget(
    engine: AstfServer, socket: zmq.Socket[bytes]
) -> None:
    api = ask(socket, request("api_sync_v2", name="ASTF", major=2, minor=3))["result"]["api_h"]
    clients = [{"client_start_ip": 4_000_000_000, "client_end_ip": 4_000_099_999}]  # 2.4 MB of text
    pair = [
        request("get_clients_info_start", api_h=api, is_range=True, attr=clients),
        request("get_clients_info_pull", api_h=api),
    ]
    before = peak_bytes(engine)
    replies = ask(socket, b"[" + b",".join(pair * 40) + b"]")
    assert len(replies[1]["result"]) == 100_000
    refused = [reply["error"]["specific_err"] for reply in replies if "error" in reply]
    assert "Memory budget 'replies'" in refused[0]
    assert peak_bytes(engine) - before < 400_000_000
    engine.check()


def test_parameters_are_named(socket: zmq.Socket[bytes]) -> None:
    error = ask(socket, request("api_sync_v2", name="ASTF", major="2", minor=3))["error"]
    assert error["message"] == "Bad parameters for method"
    assert error["specific_err"] == "parameter 'major' must be an integer, not string"


def test_answers_come_as_the_request_did(socket: zmq.Socket[bytes]) -> None:
    socket.send(frame(request("ping")))
    magic, length = struct.unpack(">II", (reply := socket.recv())[:8])
    text = zlib.decompress(reply[8:])
    assert magic == MAGIC and length == len(text)
    assert "result" in json.loads(text)


def test_a_batch_of_bad_and_good(socket: zmq.Socket[bytes]) -> None:
    replies = ask(socket, b"[" + request("ping") + b", 5, " + request("none") + b"]")
    assert "result" in replies[0]
    assert [reply["error"]["code"] for reply in replies[1:]] == [-32600, -32601]
