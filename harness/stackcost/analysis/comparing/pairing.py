"""The compared turns of two sides: one value for each turn."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from stackcost.analysis.comparing.series import Series
from stackcost.contracts.words import count

NO_ROUND = "both systems were not measured in the same round"
NOT_NUMBERED = "it is unknown whether both systems were measured in the same round"
NO_LOAD = "both systems were not measured at the same load"
OF_A = "of A"  # the unit of values over several loads: multiples of A's median turn

Trials = dict[int, float]  # of one side at one load, by round
AtLoads = dict[float, tuple[Trials, Trials]]  # of both sides


class PairedValues(NamedTuple):
    """Values of A and B by round; both are empty with a `reason` if none can be compared.

    `set_aside`: describes the values that were left out.
    """

    a: Mapping[int, float]
    b: Mapping[int, float]
    unit: str
    set_aside: list[str]
    reason: str = ""


def paired_values(a: Series, b: Series, paired: bool) -> PairedValues:
    """One value for each turn over the common loads. `paired`: as in `comparison.Design`."""
    if not a.rounds or not b.rounds:
        return PairedValues({}, {}, a.unit, [], reason=a.reason or b.reason or NO_ROUND)
    used = {load: (_at(a, load), _at(b, load)) for load in a.loads if load in b.loads}
    if not used:
        return PairedValues({}, {}, a.unit, [], reason=NO_LOAD)
    set_aside: list[str] = []
    if paired and not (a.numbered and b.numbered):
        return PairedValues({}, {}, a.unit, [], reason=NOT_NUMBERED)
    if paired:
        used, set_aside = _pairs(used)
    if not used:
        return PairedValues({}, {}, a.unit, set_aside, reason=NO_ROUND)
    if len(used) == 1:
        (one,) = used.values()
        return PairedValues(*one, a.unit, set_aside)
    return PairedValues(*_over_loads(list(used.values())), OF_A, set_aside)


def _at(side: Series, load: float) -> Trials:
    return {number: trials[load] for number, trials in side.rounds.items() if load in trials}


def _pairs(at: AtLoads) -> tuple[AtLoads, list[str]]:
    """The trials of rounds in which both sides have a value above zero."""
    used: AtLoads = {}
    missing = without_ratio = 0
    for load, (a, b) in at.items():
        both = sorted(a.keys() & b.keys())
        known = [number for number in both if a[number] > 0 and b[number] > 0]
        missing += len(a) + len(b) - 2 * len(both)
        without_ratio += len(both) - len(known)
        if known:
            used[load] = {n: a[n] for n in known}, {n: b[n] for n in known}
    set_aside = []
    if missing:
        set_aside.append(
            f"{count(missing, 'trial')} left out: the other trial of the pair is missing"
        )
    if without_ratio:
        set_aside.append(
            f"{count(without_ratio, 'pair')} left out: one of the values is not above zero"
        )
    return used, set_aside


def _over_loads(
    at_loads: Sequence[tuple[Mapping[int, float], Mapping[int, float]]],
) -> tuple[dict[int, float], dict[int, float]]:
    """A value for each turn, as a multiple of A's median turn.

    At each load a trial is divided by the centre of both sides there, so that a turn with a missing
    load is not biased.
    """
    apart: tuple[dict[int, list[float]], dict[int, list[float]]] = {}, {}
    for sides in at_loads:
        logarithms = [np.log(list(side.values())) for side in sides]
        middle = np.mean([each.mean() for each in logarithms])
        for known, side, values in zip(apart, sides, logarithms, strict=True):
            for number, value in zip(side, values - middle, strict=True):
                known.setdefault(number, []).append(float(value))
    means = [{number: np.mean(known[number]) for number in sorted(known)} for known in apart]
    usual = np.median(list(means[0].values()))
    a, b = ({number: float(np.exp(of - usual)) for number, of in side.items()} for side in means)
    return a, b
