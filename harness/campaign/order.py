"""The order of the systems' turns in a round.

Of every two rounds one is in the order of the experiment and the other is reversed, so a drift over
time affects all systems equally. Which of the two comes first is drawn at random. A fixed order
A B B A would be in step with whatever repeats itself every two rounds.
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

    `seed`: of the run. None, as of runs of before it was drawn: as given, then reversed.
    """
    two, second = divmod(round_number - 1, 2)
    swapped = seed is not None and random.Random(f"{seed}, {two}").random() < 0.5
    return systems[:: -1 if bool(second) != swapped else 1]
