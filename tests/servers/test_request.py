"""A profile's request, read from its JSON."""

import base64
from typing import Any

import pytest

from stackcost.trex.request import first_request


def profile(commands: list[dict[str, Any]], buffers: list[Any]) -> dict[str, Any]:
    return {
        "buf_list": buffers,
        "program_list": [{"commands": []}, {"commands": commands}],
        "templates": [{"client_template": {"program_index": 1}}],
    }


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def test_the_first_buffer_sent_is_the_request() -> None:
    commands = [{"name": "connect"}, {"name": "tx", "buf_index": 1}, {"name": "rx", "min_bytes": 9}]
    assert first_request(profile(commands, [encoded(b"no"), encoded(b"GET /")])) == b"GET /"


def test_a_buffer_may_be_given_by_start_size_and_filling() -> None:
    filled = {"base": encoded(b"ab"), "size": 7, "fill": encoded(b"xy")}
    counted = {"base": encoded(b""), "size": 258}
    commands = [{"name": "tx", "buf_index": 0}]
    assert first_request(profile(commands, [filled])) == b"abxyxyx"
    assert first_request(profile(commands, [counted])) == bytes(range(256)) + b"\0\1"


@pytest.mark.parametrize("commands", [[], [{"name": "rx", "min_bytes": 1}]])
def test_a_client_that_sends_nothing_has_no_request(commands: list[dict[str, Any]]) -> None:
    with pytest.raises(ValueError, match="no TCP request"):
        first_request(profile(commands, []))
