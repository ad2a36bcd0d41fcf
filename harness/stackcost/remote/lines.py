"""The protocol of calls: lines of JSON over a pair of streams.

One end sends {"number", "method", "arguments"}. The other end answers {"number"} with "result" or
"error" ({"what", "hint"}), in any order. Before all answers it sends {"version"} once, and it may
send {"say"} while it works. An empty line shows only that its sender is still there.
"""

import errno
import json
import os
import select
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import IO, Any, get_type_hints

from pydantic import TypeAdapter

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.profile_file import ProfileFolders
from stackcost.files import PROFILES

BUILT_IN = PROFILES.resolve()


def encode_arguments(method: Callable[..., Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as JSON has them."""
    types, context = _types(method), ProfileFolders(BUILT_IN)
    return {
        name: types[name].dump_python(value, mode="json", context=context)
        for name, value in arguments.items()
    }


def decode_arguments(
    method: Callable[..., Any], arguments: Mapping[str, Any], folder: Path
) -> dict[str, Any]:
    """The arguments. `folder`: where profiles of the other host are written."""
    types, context = _types(method), ProfileFolders(BUILT_IN, folder)
    return {
        name: types[name].validate_python(value, context=context)
        for name, value in arguments.items()
    }


def decode_result(method: Callable[..., Any], result: Any) -> Any:
    """A result of the method."""
    return _types(method)["return"].validate_python(result)


@cache
def _types(method: Callable[..., Any]) -> dict[str, TypeAdapter[Any]]:
    hints = get_type_hints(getattr(method, "__func__", method), include_extras=True)
    return {name: TypeAdapter(hint) for name, hint in hints.items()}


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
    """Lines that are not empty, until the stream ends or nothing comes for so long.

    StackcostError if a line is too long.
    """
    received, descriptor = bytearray(), stream.fileno()
    while select.select([descriptor], [], [], silence_s)[0]:
        data = os.read(descriptor, 1 << 16)
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
