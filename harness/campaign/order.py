"""The order of the systems' turns in a round."""

from collections.abc import Sequence
from typing import TypeVar

System = TypeVar("System")


def alternating(systems: Sequence[System], round_number: int) -> Sequence[System]:
    """The order in a round (the first is 1): as given; reversed in every second round."""
    return systems[:: 1 if round_number % 2 else -1]
