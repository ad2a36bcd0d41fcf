"""Figures as they would have been, had the host been the same in all trials: the one policy.

A neighbour on the host slows a server in two ways. On the other hardware thread of a core it takes
a part of its units and caches: known system calls take longer then. On other cores it takes a part
of the caches and the memory bandwidth that all cores share: loads from memory take longer that no
program of this machine keeps in a core's own caches. The server moves neither (core_speed.c). How
much it feels each is found from the trials: within each of the groups that are compared, so that a
difference of two is nowhere in it.

Where system calls were timed in all trials, the figures of whole trials are compared, each
corrected by what its calls and loads took. Else the figures are those of the slices of time that
neighbours left free, corrected by loads alone where those are known. With too few trials to know
the sensitivity, the figures of the free slices are compared as they are. So are those of two sides
that feel the host differently, as the kernel's stack and one that polls: their ratio is another one
on a slow host, and only the free slices tell what it is on a host without neighbours.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from stackcost.analysis.series import Observation
from stackcost.analysis.thresholds import HIGHEST_SENSITIVITY, LEAST_FREE, MOST_APART

Group = Sequence[Observation]  # trials of one system at one load
Values = list[list[float]]  # a figure for each trial of each group


class Sensitivity(BaseModel):
    """`slower`: by how much longer something took on the second side, mean over the groups, less 1.
    `sensitivity`: the part of it by which connections get dearer.
    """

    model_config = ConfigDict(frozen=True)

    slower: float
    sensitivity: float = Field(validation_alias=AliasChoices("sensitivity", "felt"))

    @property
    def logarithm(self) -> float:
        """Of what it makes of a connection's cost."""
        return self.sensitivity * math.log1p(self.slower)


class HostNoise(BaseModel):
    """What was taken off from the costs of two sides. `unsure`: by how much the second side may be
    off as a whole, as the sensitivity is known to its standard error only.
    """

    model_config = ConfigDict(frozen=True)

    loads: Sensitivity
    calls: Sensitivity
    unsure: float

    @property
    def taken_off(self) -> float:
        """From the second side's costs more than from the first's, as a share of them."""
        return math.expm1(self.loads.logarithm + self.calls.logarithm)


class CorrectedFigures(NamedTuple):
    """The figures of both sides' groups, and what was taken off from them; None: nothing was."""

    first: Values
    second: Values
    part: HostNoise | None


def correct_for_host(
    first: Sequence[Group], second: Sequence[Group], is_rate: bool = False
) -> CorrectedFigures:
    """Of groups at the same loads, in the same order; the first side's median host stays.

    Both sides have to feel the host alike. At each load the figures of both are multiplied by what
    makes the first side's median the one that tables show. `is_rate`: the figures fall by what
    costs rise by.
    """
    costs = -1 if is_rate else 1  # the power of the figure that costs are
    found = _host_part(_basis(first, first, second), _basis(second, first, second), costs)
    if found is None:
        return CorrectedFigures(_tabled(first), _tabled(second), None)
    part, corrected = found
    tabled = [np.median(group) for group in _tabled(first)]
    level = [by / np.median(group) for by, group in zip(tabled, corrected[0], strict=True)]
    mine, theirs = (
        [(np.array(group) * by).tolist() for by, group in zip(level, side, strict=True)]
        for side in corrected
    )
    return CorrectedFigures(mine, theirs, part)


def _tabled(groups: Sequence[Group]) -> Values:
    return [[trial.value for trial in group] for group in groups]


def _basis(side: Sequence[Group], *sides: Sequence[Group]) -> list[list[Observation]]:
    """A side's trials with the figure that can be corrected, and what it is corrected by."""
    every = [trial for groups in sides for group in groups for trial in group]
    if all(trial.whole and trial.call_time for trial in every):
        return [[trial._replace(value=trial.whole or 0.0) for trial in group] for group in side]
    return [[trial._replace(call_time=None) for trial in group] for group in side]


def _host_part(
    first: Sequence[Group], second: Sequence[Group], costs: int
) -> tuple[HostNoise, tuple[Values, Values]] | None:
    """What is in figures for their host, and both sides' figures without it. What was not read in
    all trials is taken to have been the same in them. None where nothing was, or where the trials
    are too few.
    """
    groups = [*first, *second]
    found = [
        _apart([[each.load_time for each in group] for group in groups], len(first)),
        _apart([[each.call_time for each in group] for group in groups], len(first)),
    ]
    read = [parts for parts in found if parts is not None]
    free = sum(map(len, groups)) - len(groups) - len(read)
    if not read or free < LEAST_FREE:
        return None
    same = [np.zeros(len(group)) for group in groups]
    conditions = [
        np.column_stack(parts) for parts in zip(*(each or same for each in found), strict=True)
    ]
    seen = [np.log([each.value for each in group]) for group in groups]
    sensitivity, errors = _sensitivities(conditions, [costs * group for group in seen], free)
    middles = np.array([np.median(part, axis=0) for part in conditions])
    slower = (middles[len(first) :] - middles[: len(first)]).mean(axis=0)
    values = [
        np.exp(group - costs * (part @ sensitivity)).tolist()
        for group, part in zip(seen, conditions, strict=True)
    ]
    loads, calls = (
        Sensitivity(slower=math.expm1(of), sensitivity=float(by))
        for of, by in zip(slower, sensitivity, strict=True)
    )
    part = HostNoise(loads=loads, calls=calls, unsure=math.sqrt(slower @ errors @ slower))
    return part, (values[: len(first)], values[len(first) :])


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


def _sensitivities(
    conditions: list[np.ndarray], costs: list[np.ndarray], free: int
) -> tuple[np.ndarray, np.ndarray]:
    """Slopes of one plane through all groups, each about its own mean, and their covariance.

    Analysis of covariance; a mean of each group and the slopes are estimated.
    """
    from scipy.optimize import lsq_linear  # takes a second, which a stored answer does not need

    x = np.concatenate([part - part.mean(axis=0) for part in conditions])
    y = np.concatenate([part - part.mean() for part in costs])
    moved = np.ptp(x, axis=0) > 0
    highest = np.array(HIGHEST_SENSITIVITY)
    found = np.zeros(len(highest))
    if moved.any():
        found[moved] = lsq_linear(x[:, moved], y, (0.0, highest[moved]), method="bvls").x
    left = y - x @ found
    return found, np.linalg.pinv(x.T @ x) * (left @ left / free)
