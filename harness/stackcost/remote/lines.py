"""The protocol of calls: lines of JSON over a pair of streams.

One end sends {"number", "method", "arguments"}. The other end answers {"number"} with "result" or
"error" ({"what", "hint"}), in any order. Before all answers it sends {"version"} once, and it may
send {"say"} while it works. An empty line shows only that its sender is still there.
"""

import errno
import json
import os
import select
from collections.abc import Iterator
from typing import IO, Any

from stackcost.contracts.errors import StackcostError

LINE_LIMIT = 1 << 28  # bytes; all samples of a long trial are some megabytes
SHOWN = 80  # characters of a line that is refused


def pack(message: dict[str, Any]) -> bytes:
    """A message as a line."""
    return json.dumps(message).encode() + b"\n"


def unpack(line: bytes) -> dict[str, Any]:
    """The message of a line; StackcostError if it is none."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        raise refused(line)
    return message


def refused(line: bytes) -> StackcostError:
    """A line that is no message of this protocol."""
    shown = line[:SHOWN].decode(errors="replace").strip()
    return StackcostError(f"a line that is no message was refused: {shown!r}")


def lines_of(stream: IO[bytes], silence_s: float | None = None) -> Iterator[bytes]:
    """Lines that are not empty, until their sender ends or nothing comes for so long.

    StackcostError if a line is too long.
    """
    received, descriptor = bytearray(), stream.fileno()
    while select.select([descriptor], [], [], silence_s)[0]:
        try:
            data = os.read(descriptor, 1 << 16)
        except ConnectionResetError:  # it ended without reading all that it was sent
            return
        if not data:
            return
        *whole, rest = data.split(b"\n")
        if whole:
            whole[0], received = bytes(received) + whole[0], bytearray()
        yield from filter(bytes.strip, whole)
        received += rest
        if len(received) > LINE_LIMIT:
            raise StackcostError(f"a line of more than {LINE_LIMIT:,} bytes was refused")


def pack_error(error: Exception) -> dict[str, str]:
    """An error for the other end; of one of ours, what happened and how it is fixed."""
    if isinstance(error, StackcostError):
        return {"what": error.what, "hint": error.hint}
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return {
            "what": f"no space left on its disk for {error.filename or 'a file'}",
            "hint": "free some space there; to see its use: df -h",
        }
    return {"what": f"{type(error).__name__}: {error}", "hint": ""}


def unpack_error(packed: Any) -> StackcostError:
    """The error of an answer."""
    if isinstance(packed, dict) and {*packed} == {"what", "hint"}:
        return StackcostError(str(packed["what"]), str(packed["hint"]))
    return StackcostError(f"an error without words: {packed!r}")
