"""A ramp of rising loads, up to a load that a system does not hold."""

from collections.abc import Iterator
from typing import TypeVar

Number = TypeVar("Number", int, float)


def rising(first: Number, factor: Number, most: Number) -> Iterator[Number]:
    """Loads from `first` on, each `factor` times the one before; `most` is the last.

    Whoever offers them ends when one is not held.
    """
    load = first
    while load < most:
        yield load
        load *= factor
    yield most
