"""Costs as they would have been, had the host been the same in all trials.

A neighbour on the host slows a server in two ways. On the other hardware thread of a core it takes
a part of its units and caches: known system calls take longer then. On other cores it takes a part
of the caches and the memory bandwidth that all cores share: loads from memory take longer that no
program of this machine keeps in a core's own caches. The server moves neither (core_speed.c). How
much it feels each is found from the trials: within each of the groups that are compared, so that a
difference of two is nowhere in it.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import lsq_linear

# Of loads and of calls: what they take longer, times this, is the most that a server feels.
MOST_FELT = (1.5, 3.0)
MOST_APART = 0.4  # logarithm; a trial further from the others had something else go on
LEAST_FREE = 5  # trials beyond what is estimated from them; with fewer the fit says nothing


class Observed(NamedTuple):
    """A trial. What a load from memory took in it, and a pair of system calls; None: not read."""

    cost: float
    load: float | None
    call: float | None = None


Group = Sequence[Observed]  # trials of one system at one load


class Felt(NamedTuple):
    """`slower`: by how much longer something took on the second side, mean over the groups, less 1.
    `felt`: the part of it by which connections get dearer.
    """

    slower: float
    felt: float

    @property
    def logarithm(self) -> float:
        """Of what it makes of a connection's cost."""
        return self.felt * math.log1p(self.slower)


class HostPart(NamedTuple):
    """What is in the costs of two sides for their host. `factors`: by which the trials of each
    side's groups are to be multiplied. `unsure`: by how much the second side may be off as a whole,
    as what is felt is known to its standard error only.
    """

    factors: tuple[list[list[float]], list[list[float]]]
    loads: Felt
    calls: Felt
    unsure: float

    @property
    def taken_off(self) -> float:
        """From the second side's costs more than from the first's, as a share of them."""
        return math.expm1(self.loads.logarithm + self.calls.logarithm)


def host_part(first: Sequence[Group], second: Sequence[Group]) -> HostPart | None:
    """Of groups at the same loads, in the same order; the first side's median host stays.

    What was not read in all trials is taken to have been the same in them. None where nothing was,
    or where the trials are too few.
    """
    groups = [*first, *second]
    found = [
        _apart([[each.load for each in group] for group in groups], len(first)),
        _apart([[each.call for each in group] for group in groups], len(first)),
    ]
    read = [parts for parts in found if parts is not None]
    free = sum(map(len, groups)) - len(groups) - len(read)
    if not read or free < LEAST_FREE:
        return None
    same = [np.zeros(len(group)) for group in groups]
    conditions = [
        np.column_stack(parts) for parts in zip(*(each or same for each in found), strict=True)
    ]
    costs = [np.log([each.cost for each in group]) for group in groups]
    felt, errors = _felt(conditions, costs, free)
    middles = np.array([np.median(part, axis=0) for part in conditions])
    slower = (middles[len(first) :] - middles[: len(first)]).mean(axis=0)
    factors = [np.exp(-part @ felt).tolist() for part in conditions]
    loads, calls = (Felt(math.expm1(of), float(by)) for of, by in zip(slower, felt, strict=True))
    unsure = math.sqrt(slower @ errors @ slower)
    return HostPart((factors[: len(first)], factors[len(first) :]), loads, calls, unsure)


def _apart(groups: Sequence[Sequence[float | None]], loads: int) -> list[np.ndarray] | None:
    """How much longer something took in each trial than in the first side's median one at its load,
    as a logarithm; a trial is at most `MOST_APART` from its own group's. None when not read in all.
    """
    known = [[value for value in group if value] for group in groups]
    if list(map(len, known)) != list(map(len, groups)):
        return None
    taken = [np.log(group) for group in known]
    usual = [float(np.median(group)) for group in taken]
    return [
        np.clip(group - own, -MOST_APART, MOST_APART) + own - usual[at % loads]
        for at, (group, own) in enumerate(zip(taken, usual, strict=True))
    ]


def _felt(
    conditions: list[np.ndarray], costs: list[np.ndarray], free: int
) -> tuple[np.ndarray, np.ndarray]:
    """Slopes of one plane through all groups, each about its own mean, and their covariance.

    Analysis of covariance; a mean of each group and the slopes are estimated.
    """
    x = np.concatenate([part - part.mean(axis=0) for part in conditions])
    y = np.concatenate([part - part.mean() for part in costs])
    moved = np.ptp(x, axis=0) > 0
    felt = np.zeros(len(MOST_FELT))
    if moved.any():
        felt[moved] = lsq_linear(x[:, moved], y, (0.0, np.array(MOST_FELT)[moved]), method="bvls").x
    left = y - x @ felt
    return felt, np.linalg.pinv(x.T @ x) * (left @ left / free)
