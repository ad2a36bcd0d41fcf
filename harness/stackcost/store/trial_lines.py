"""Trials as lines of JSON, each without its samples.

The manifest says their format. A line that is damaged is kept as it is: what a person can still
read of it must not be lost.
"""

import dataclasses
import json
from collections.abc import Collection

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from stackcost.contracts.trial import Trial
from stackcost.store.reading import first_fault, parse_object

_BEGIN = b'{"server": '
_TRIAL = TypeAdapter(Trial)


def encode(trial: Trial) -> bytes:
    """The line of a trial, without the end of the line."""
    record = to_jsonable_python(dataclasses.replace(trial, samples=[]))
    del record["samples"]
    return json.dumps(record).encode()


def decode(line: bytes) -> Trial:
    """The trial of a line, without samples; ValueError says why it is none."""
    record = parse_object(line)
    record.pop("samples", None)
    try:
        return _TRIAL.validate_python(record)
    except ValidationError as error:
        raise ValueError(first_fault(error)) from error


def is_whole(line: bytes) -> bool:
    """Whether it begins and ends as a trial; to decode it takes a hundred times as long."""
    return line.startswith(_BEGIN) and line.endswith(b"}")


def set_aside(line: bytes, numbers: Collection[int], reason: str) -> bytes:
    """A line, marked when its trial is one of `numbers` and is not set aside yet."""
    try:
        trial = decode(line)
    except ValueError:
        return line
    if trial.number not in numbers or trial.set_aside:
        return line
    return json.dumps(parse_object(line) | {"set_aside": reason}).encode()
