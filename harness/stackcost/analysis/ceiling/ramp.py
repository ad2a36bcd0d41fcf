"""A ramp of rising loads, up to a load that a system does not hold."""

from collections.abc import Iterator
from typing import TypeVar

Load = TypeVar("Load", int, float)


def rising(first: Load, factor: Load, most: Load) -> Iterator[Load]:
    """Loads from `first` on, each `factor` times the one before; `most` is the last.

    Whoever offers them ends when one is not held.
    """
    load = first
    while load < most:
        yield load
        load *= factor
    yield most
