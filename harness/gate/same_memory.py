"""Trials as they would have been, had the memory of the host been as fast in all of them.

Neighbours on other cores take a part of the caches and of the memory bandwidth that all cores
share; a server whose work is pointers and packets feels that. It is seen by loads from memory that
no program of this machine keeps in a core's own caches (core_speed.c), so that a server which
itself uses more memory does not move it. How much a server feels it is found from the trials:
within the baseline and within today's, so that a difference of the two is nowhere in it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from harness.gate.trial import GateTrial

MOST_FELT = 1.5  # what memory gets slower, times this, is the most that a server does


class SameMemory(NamedTuple):
    """Trials of the baseline and of now. `slower`: a load now over one of the baseline, less 1.

    `felt`: the part of it that the server's connections feel. `unsure`: by how much today's trials
    may all be off together, as `felt` is known to its standard error only. All are 0 where memory
    was not measured.
    """

    baseline: list[GateTrial]
    now: list[GateTrial]
    slower: float = 0.0
    felt: float = 0.0
    unsure: float = 0.0


def at_same_memory(baseline: Sequence[GateTrial], now: Sequence[GateTrial]) -> SameMemory:
    """Corrected to the baseline's median; as they are when a trial of them has no such reading."""
    loads = [[trial.load_ns for trial in trials] for trials in (baseline, now)]
    if not all(loads) or None in loads[0] + loads[1]:
        return SameMemory(list(baseline), list(now))
    before, after = (np.log(np.array(each, float)) for each in loads)
    felt, error = _felt(before, baseline, after, now)
    usual = float(np.median(before))
    apart = float(np.median(after)) - usual
    return SameMemory(
        _corrected(baseline, felt * (before - usual)),
        _corrected(now, felt * (after - usual)),
        float(np.expm1(apart)),
        felt,
        error * abs(apart),
    )


def _felt(
    before: np.ndarray, baseline: Sequence[GateTrial], after: np.ndarray, now: Sequence[GateTrial]
) -> tuple[float, float]:
    """Slope of one line through both groups, each about its own mean, and its standard error.

    Analysis of covariance; two means and a slope are estimated.
    """
    costs = [-np.log([trial.cps for trial in trials]) for trials in (baseline, now)]
    x = np.concatenate([each - each.mean() for each in (before, after)])
    y = np.concatenate([each - each.mean() for each in costs])
    spread, free = float(x @ x), len(x) - 3
    if not spread or free < 1:
        return 0.0, 0.0
    felt = min(MOST_FELT, max(0.0, float(x @ y) / spread))
    left = y - felt * x
    return felt, float(np.sqrt(left @ left / free / spread))


def _corrected(trials: Sequence[GateTrial], logarithms: np.ndarray) -> list[GateTrial]:
    return [
        trial.model_copy(update={"cps": trial.cps * float(np.exp(each))})
        for trial, each in zip(trials, logarithms, strict=True)
    ]
