"""The order of the systems' turns in a round.

It is drawn at random for each round on its own. So the signs of the pairs of two equal systems are
independent, whatever disturbs the host and with which period, which is just what the test of pairs
assumes. A fixed order A B B A would be in step with whatever repeats itself every two rounds. With
one draw for each two rounds, the second round would follow from the first.
"""

import random
from collections.abc import Sequence
from typing import TypeVar

System = TypeVar("System")


def draw_seed() -> int:
    """A new seed of a run's order, for its manifest."""
    return random.SystemRandom().randrange(2**32)


def in_order(systems: Sequence[System], round_number: int, seed: int | None) -> Sequence[System]:
    """The order in a round (the first is 1).

    `seed`: of the run. None, in older runs, which drew no order: as given, then reversed.
    """
    if seed is None:
        return systems[:: 1 if round_number % 2 else -1]
    return random.Random(f"{seed}, {round_number}").sample(systems, len(systems))
