"""Corrects figures for other load on the host (other virtual machines) during the trials.

Other load slows a server in two ways. On the other hardware thread of a core it uses a part of the
core's units and caches; then known system calls take longer. On other cores it uses a part of the
shared caches and of the memory bandwidth; then loads from memory that is in no core's own cache
take longer. The server itself does not change these times (core_speed.c). The sensitivity of the
server's cost to each of them is estimated from the trials, within each compared group, so that a
difference between the groups does not influence it.

If system calls were timed in all trials, the figures of whole trials are compared, each corrected
by the times of its system calls and loads. Otherwise the figures of the undisturbed slices of time
are used, corrected only by the loads, if these are known. With too few trials to estimate the
sensitivity, the figures of the undisturbed slices are not corrected. The same applies to two sides
with different sensitivities, such as the kernel's stack and one that polls: their ratio changes on
a slow host, and only the undisturbed slices show the ratio without other load.
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
    """The influence of one kind of other load on the host.

    `slower`: by how much longer the timed operation took on the second side (0.1 is 10 %), mean
    over the groups. `sensitivity`: the share of that by which the cost of a connection rises.
    """

    model_config = ConfigDict(frozen=True)

    slower: float
    sensitivity: float = Field(validation_alias=AliasChoices("sensitivity", "felt"))

    @property
    def logarithm(self) -> float:
        """Logarithm of its effect on the cost of a connection."""
        return self.sensitivity * math.log1p(self.slower)


class HostNoise(BaseModel):
    """The correction of the costs of two sides.

    `unsure`: the uncertainty of the second side's correction, from the standard error of the
    sensitivity.
    """

    model_config = ConfigDict(frozen=True)

    loads: Sensitivity
    calls: Sensitivity
    unsure: float

    @property
    def taken_off(self) -> float:
        """The correction of the second side's costs relative to the first side's, as a share."""
        return math.expm1(self.loads.logarithm + self.calls.logarithm)


class CorrectedFigures(NamedTuple):
    """The corrected figures of both sides' groups, and the correction; None: no correction."""

    first: Values
    second: Values
    part: HostNoise | None


def correct_for_host(
    first: Sequence[Group], second: Sequence[Group], is_rate: bool = False
) -> CorrectedFigures:
    """Correct groups at the same loads, in the same order, to the median host of the first side.

    Both sides must have the same sensitivity. At each load the figures of both sides are scaled so
    that the first side's median is the one in the tables. `is_rate`: figures fall when costs rise.
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
    """A side's trials with the figure to correct and the times for the correction."""
    every = [trial for groups in sides for group in groups for trial in group]
    if all(trial.whole and trial.call_time for trial in every):
        return [[trial._replace(value=trial.whole or 0.0) for trial in group] for group in side]
    return [[trial._replace(call_time=None) for trial in group] for group in side]


def _host_part(
    first: Sequence[Group], second: Sequence[Group], costs: int
) -> tuple[HostNoise, tuple[Values, Values]] | None:
    """The effect of the host on the figures, and both sides' corrected figures.

    A time that was not read in all trials is assumed to be constant. None if no time was read in
    all trials, or if there are too few trials.
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
