"""Reads stored JSON: the result is a value or one clear error, whatever the file contains.

A file may be empty or cut after a power cut, or be written by anybody.
"""

from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from stackcost.contracts.errors import StackcostError
from stackcost.host.files import read_whole


def check_format(found: object, ours: str, what: str) -> None:
    """StackcostError unless `found` is the format that this version reads."""
    if found != ours:
        raise StackcostError(
            f"{what} has the format {str(found)[:60]!r}; this version reads {ours}",
            "read it with the version of stackcost that wrote it, or measure again",
        )


_OBJECT = TypeAdapter(dict[str, Any])


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file; StackcostError says what it is instead."""
    try:
        return parse_object(read_whole(path))
    except OSError as error:
        raise StackcostError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise StackcostError(f"{path} is damaged: {error}") from error


def parse_object(content: bytes) -> dict[str, Any]:
    """The JSON object in these bytes; ValueError with what they are instead."""
    if not content.strip(b"\0 \t\r\n"):
        raise ValueError("it is empty" if not content else f"its {len(content)} bytes are blank")
    try:
        return _OBJECT.validate_json(content)
    except ValidationError as error:
        raise ValueError(first_fault(error)) from error


def first_fault(error: ValidationError) -> str:
    """The first of the faults, with its place and without the value that was found there."""
    fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(map(str, fault["loc"]))
    return f"{place}: {fault['msg']}" if place else str(fault["msg"])
