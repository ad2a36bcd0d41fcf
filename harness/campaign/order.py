"""In which order the systems of a round have their turns."""

from collections.abc import Sequence
from typing import TypeVar

System = TypeVar("System")


def alternating(systems: Sequence[System], round_number: int) -> Sequence[System]:
    """The order of one round, counted from 1: as given, and backwards in every second one."""
    return systems[:: 1 if round_number % 2 else -1]
