"""Costs as they would have been, had the memory of the host been as fast in all trials.

Neighbours on other cores take a part of the caches and of the memory bandwidth that all cores
share; a server whose work is pointers and packets feels that. It is seen by loads from memory that
no program of this machine keeps in a core's own caches (core_speed.c), so that a server which
itself uses more memory does not move it. How much a server feels it is found from the trials:
within each of the groups that are compared, so that a difference of two is nowhere in it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

MOST_FELT = 1.5  # what memory gets slower, times this, is the most that a server does
LEAST_FREE = 5  # trials beyond what is estimated from them; with fewer the line says nothing

# Trials at one load: the cost of each, and what a load from memory took in it.
Group = Sequence[tuple[float, float | None]]


class MemoryPart(NamedTuple):
    """What is in the costs of two sides for memory. `factors`: by which the trials of each side's
    groups are to be multiplied.

    `slower`: a load of the second side over one of the first, less 1, mean over the groups. `felt`:
    the part of it that the server's connections feel. `unsure`: by how much the second side may be
    off as a whole, as `felt` is known to its standard error only.
    """

    factors: tuple[list[list[float]], list[list[float]]]
    slower: float
    felt: float
    unsure: float


def memory_part(first: Sequence[Group], second: Sequence[Group]) -> MemoryPart | None:
    """Of groups at the same loads, in the same order; the first side's median load stays.

    None where a trial of them has no such reading, or where they are too few.
    """
    sides = [list(first), list(second)]
    groups = [group for side in sides for group in side]
    trials = sum(map(len, groups))
    if any(not load for group in groups for _, load in group):
        return None
    if trials < LEAST_FREE + len(groups) + 1:
        return None
    loads = [[np.log([load or 0.0 for _, load in group]) for group in side] for side in sides]
    costs = [np.log([cost for cost, _ in group]) for group in groups]
    felt, error = _felt([*loads[0], *loads[1]], costs)
    usual = [float(np.median(group)) for group in loads[0]]
    apart = float(np.mean([np.median(b) - at for b, at in zip(loads[1], usual, strict=True)]))
    before, after = (
        [np.exp(-felt * (group - at)).tolist() for group, at in zip(side, usual, strict=True)]
        for side in loads
    )
    return MemoryPart((before, after), float(np.expm1(apart)), felt, error * abs(apart))


def _felt(loads: list[np.ndarray], costs: list[np.ndarray]) -> tuple[float, float]:
    """Slope of one line through all groups, each about its own mean, and its standard error.

    Analysis of covariance; a mean of each group and a slope are estimated.
    """
    x, y = (np.concatenate([each - each.mean() for each in groups]) for groups in (loads, costs))
    spread, free = float(x @ x), len(x) - len(loads) - 1
    if not spread:
        return 0.0, 0.0
    felt = min(MOST_FELT, max(0.0, float(x @ y) / spread))
    left = y - felt * x
    return felt, float(np.sqrt(left @ left / free / spread))
