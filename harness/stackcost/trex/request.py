"""The request of a profile, read from the profile itself."""

import base64
from typing import Any


def first_request(profile: dict[str, Any]) -> bytes:
    """The first bytes the first template's client sends; `profile` is its JSON for the server.

    ValueError when its client sends nothing over TCP before it waits.
    """
    template = profile["templates"][0]["client_template"]
    program = profile["program_list"][template["program_index"]]
    for command in program["commands"]:
        if command["name"] == "tx":
            return _buffer(profile["buf_list"][command["buf_index"]])
        if command["name"] in ("rx", "rx_msg"):
            break
    raise ValueError("the client of the profile sends no TCP request")


def _buffer(entry: str | dict[str, Any]) -> bytes:
    """Bytes of one entry: plain, or a start, a length and what fills it up."""
    if isinstance(entry, str):
        return base64.b64decode(entry)
    start = base64.b64decode(entry["base"])
    fill = base64.b64decode(entry["fill"]) if "fill" in entry else bytes(range(256))
    missing = int(entry["size"]) - len(start)
    return start + (fill * (missing // len(fill) + 1))[:missing]
