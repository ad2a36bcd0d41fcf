"""Whether two sets of trials differ: how much, how surely, and when nothing can be said.

A figure is compared over all loads at which both were measured, the trials of each with each other
only. A difference is called by a Mann-Whitney test over the loads, which asks nothing of the
distribution, two-sided (`harness.analysis.stratified`). Several figures compared at once are
corrected by Holm's method, so that of identical set-ups at most `RATE` of the comparisons as a
whole are called different. How large it is stands apart: the ratio of the medians, over several
loads the geometric mean of their ratios, with its bootstrap interval, and Cliff's delta (the share
of pairs of trials in which B is above A, less the share in which it is below: -1 to 1).

With few trials no outcome, however clear, can reach the rate: the most extreme order of n + m
values has the probability 2 / C(n+m, n) under equal set-ups, over several loads 2 / the product of
these. Then the verdict says so, with the number of trials it takes, as asv does (asv/_stats.py).
"""

import itertools
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict

from harness.analysis.spread import Spread, interval, ratio_of_medians, spread
from harness.analysis.stratified import least_p, mann_whitney

RATE = 0.01

Verdict = Literal["different", "no difference shown", "too few trials", "not judged", "unknown"]
Sides = tuple[Spread, Spread]


class Pair(NamedTuple):
    """One figure of A and of B at each of some loads; `at`: these in words."""

    figure: str
    at: str
    loads: Sequence[Sides]


class Comparison(BaseModel):
    """One figure of A and of B. `ratio`: median of B over median of A; `low`, `high` its interval.

    `a`, `b`: the figure, over several loads as multiples of A's median at each. `p`: of the
    Mann-Whitney test, `p_corrected`: by Holm over all judged figures. None where it was not judged
    or cannot be known; `reason` then says why.
    """

    model_config = ConfigDict(frozen=True)

    figure: str
    at: str
    unit: str
    a: Spread
    b: Spread
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    effect: float | None = None
    p: float | None = None
    p_corrected: float | None = None
    verdict: Verdict = "not judged"
    reason: str = ""


def compare(
    pairs: Sequence[Pair],
    judged: Sequence[bool],
    rate: float = RATE,
    unsure: Sequence[float] = (),
) -> list[Comparison]:
    """Compare figures. Only the `judged` ones get a verdict.

    `unsure`: by how much B of each pair may be off as a whole; a difference has to stand even so.
    """
    found = judge(pairs, judged, rate)
    if any(unsure):
        nearer = [_nearer(*each) for each in zip(pairs, found, unsure, strict=True)]
        found = [
            _doubted(each, off) if _lost(each, other) else each
            for each, other, off in zip(found, judge(nearer, judged, rate), unsure, strict=True)
        ]
    return [_with_interval(*each) for each in zip(pairs, found, strict=True)]


def judge(pairs: Sequence[Pair], judged: Sequence[bool], rate: float = RATE) -> list[Comparison]:
    """The same without the intervals, which take most of the time."""
    family = sum(judged)
    drafts = [_measured(pair) for pair in pairs]
    tested = [
        _tested(pair, draft, family, rate) if wanted and draft.verdict != "unknown" else draft
        for pair, draft, wanted in zip(pairs, drafts, judged, strict=True)
    ]
    known = [each for each in tested if each.p is not None]
    corrected = iter(holm([each.p or 0.0 for each in known]))
    return [each if each.p is None else _called(each, next(corrected), rate) for each in tested]


def holm(p_values: Sequence[float]) -> list[float]:
    """Corrected p values in the given order (Holm, Scandinavian Journal of Statistics, 1979)."""
    order = np.argsort(p_values)
    stepped = [p_values[at] * (len(p_values) - rank) for rank, at in enumerate(order)]
    corrected = np.empty(len(p_values))
    corrected[order] = np.minimum(np.maximum.accumulate(stepped), 1.0) if stepped else []
    return [float(value) for value in corrected]


def trials_needed(rate: float, loads: int = 1) -> int:
    """Trials on each side, at each of so many loads, that can show a difference at this rate."""
    return next(n for n in itertools.count(1) if least_p([(n, n)] * loads) < rate)


def _known(pair: Pair) -> list[Sides]:
    return [(a, b) for a, b in pair.loads if a.values and b.values]


def _measured(pair: Pair) -> Comparison:
    known = _known(pair)
    a, b = pair.loads[0] if len(pair.loads) == 1 or not known else _relative(known)
    draft = Comparison(figure=pair.figure, at=pair.at, unit=a.unit, a=a, b=b)
    if not known:
        reason = a.reason or b.reason
        return draft.model_copy(update={"verdict": "unknown", "reason": reason})
    _, effect = mann_whitney(_values(known))
    medians = [(b.median or 0.0, a.median or 0.0) for a, b in known]
    ratio = ratio_of_medians(medians) if all(below > 0 for _, below in medians) else None
    return draft.model_copy(update={"ratio": ratio, "effect": effect})


def _relative(known: Sequence[Sides]) -> Sides:
    """Both sides as multiples of A's median at each load, of all loads together."""
    a = [value / (a.median or 1.0) for a, _ in known for value in a.values]
    b = [value / (a.median or 1.0) for a, b in known for value in b.values]
    return spread(a, "of A"), spread(b, "of A")


def _values(known: Sequence[Sides]) -> list[tuple[list[float], list[float]]]:
    return [(a.values, b.values) for a, b in known]


def _with_interval(pair: Pair, found: Comparison) -> Comparison:
    if found.ratio is None or min(found.a.values) <= 0:
        return found
    low, high = interval([values for a, b in _known(pair) for values in (b.values, a.values)])
    return found.model_copy(update={"low": low, "high": high})


def _tested(pair: Pair, draft: Comparison, family: int, rate: float) -> Comparison:
    known = _known(pair)
    sizes = [(len(a.values), len(b.values)) for a, b in known]
    if least_p(sizes) >= rate / family:
        needed = trials_needed(rate / family, len(sizes))
        at = " at each load" if len(sizes) > 1 else ""
        n, m = sizes[0]
        reason = f"{n} and {m} trials{at}; {needed} and {needed} can show a difference"
        return draft.model_copy(update={"verdict": "too few trials", "reason": reason})
    p, _ = mann_whitney(_values(known))
    return draft.model_copy(update={"p": p})


def _nearer(pair: Pair, found: Comparison, off: float) -> Pair:
    """The pair with B moved towards A by as much as it may be off."""
    factor = 1 - off if (found.effect or 0.0) > 0 else 1 + off
    moved = [
        (a, b.model_copy(update={"values": [value * factor for value in b.values]}))
        for a, b in pair.loads
    ]
    return pair._replace(loads=moved)


def _lost(found: Comparison, nearer: Comparison) -> bool:
    """Whether a difference is gone, or is one to the other side."""
    same_side = (found.effect or 0.0) * (nearer.effect or 0.0) > 0
    return found.verdict == "different" and not (nearer.verdict == "different" and same_side)


def _doubted(found: Comparison, off: float) -> Comparison:
    reason = f"what was taken off for memory may be {off:.1%} off, and then there is none"
    return found.model_copy(update={"verdict": "no difference shown", "reason": reason})


def _called(draft: Comparison, corrected: float, rate: float) -> Comparison:
    verdict: Verdict = "different" if corrected < rate else "no difference shown"
    return draft.model_copy(update={"p_corrected": corrected, "verdict": verdict})
