"""Whether two sets of trials differ: how much, how surely, and when nothing can be said.

A difference is called by a Mann-Whitney test, which asks nothing of the distribution, two-sided;
where A and B took turns, by Wilcoxon's test of the pairs' ratios: what came and went with the hour
was in both of a pair, and is in no ratio. Several figures compared at once are corrected by Holm's
method, so that of identical set-ups at most `RATE` of the comparisons as a whole are called
different. How large it is, and which way, comes from the same ranks (`stackcost.analysis.ranks`).

With few trials no outcome, however clear, can reach the rate: the most extreme order of n + m
values has the probability 2 / C(n+m, n) under equal set-ups, the most extreme signs of n pairs
2 / 2^n. Then the verdict says so, with the number of trials it takes, as asv does (asv/_stats.py).
"""

import itertools
from collections.abc import Sequence
from math import comb
from typing import Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict
from scipy.stats import mannwhitneyu, t, wilcoxon

from stackcost.analysis import ranks
from stackcost.analysis.spread import Spread

RATE = 0.01
POWER = 0.9
EFFICIENCY = 108 / 125  # of both tests, at the least, where a t test has 1
EXACT_UP_TO = 60  # trials of both together; beyond it the normal approximation is as good

Verdict = Literal["different", "no difference shown", "too few trials", "not judged", "unknown"]


class Pair(NamedTuple):
    """One figure of A and of B. `at`: the load in words. `matched`: entry i of both was measured in
    the same round.
    """

    figure: str
    at: str
    a: Spread
    b: Spread
    matched: bool = False


class Comparison(BaseModel):
    """One figure of A and of B. `ratio`: B over A, of all trials of both or, `matched`, of the
    pairs, as in `analysis.ranks`; `low`, `high` its interval, which holds the truth in the
    share `coverage` of all repetitions. `effect`: -1 (B below A throughout) to 1; Cliff's delta,
    or, `matched`, the rank-biserial correlation of the pairs.

    `p`: of the test, `p_corrected`: by Holm over all judged figures. None where it
    was not judged or cannot be known; `reason` then says why. `detectable`: the ratio, less 1, that
    as many trials with such a spread would show nine times in ten.
    """

    model_config = ConfigDict(frozen=True)

    figure: str
    at: str
    unit: str
    a: Spread
    b: Spread
    matched: bool = False
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    coverage: float | None = None
    effect: float | None = None
    p: float | None = None
    p_corrected: float | None = None
    detectable: float | None = None
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
    found = _judge(pairs, judged, rate)
    if not any(unsure):
        return found
    nearer = [_nearer(*each) for each in zip(pairs, found, unsure, strict=True)]
    return [
        _doubted(each, off) if _lost(each, other) else each
        for each, other, off in zip(found, _judge(nearer, judged, rate), unsure, strict=True)
    ]


def _judge(pairs: Sequence[Pair], judged: Sequence[bool], rate: float) -> list[Comparison]:
    family = sum(judged)
    drafts = [_measured(pair) for pair in pairs]
    tested = [
        _tested(draft, family, rate) if wanted and draft.verdict != "unknown" else draft
        for draft, wanted in zip(drafts, judged, strict=True)
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


def least_p(n: int, m: int) -> float:
    """The smallest two-sided p that n and m trials can have at all."""
    return min(1.0, 2 / comb(n + m, n))


def trials_needed(rate: float) -> int:
    """Trials on each side that can show a difference at this rate."""
    return next(n for n in itertools.count(2) if least_p(n, n) < rate)


def pairs_needed(rate: float) -> int:
    """Pairs that can show a difference at this rate."""
    return next(n for n in itertools.count(2) if 2.0 ** (1 - n) < rate)


def _measured(pair: Pair) -> Comparison:
    a, b = pair.a, pair.b
    draft = Comparison(**pair._asdict(), unit=a.unit)
    if a.median is None or b.median is None:
        reason = a.reason or b.reason
        return draft.model_copy(update={"verdict": "unknown", "reason": reason})
    size = (ranks.of_pairs if pair.matched else ranks.of_sides)(a.values, b.values)
    found = dict(zip(("low", "high", "coverage"), size.interval or (), strict=False))
    return draft.model_copy(update={"ratio": size.ratio, "effect": size.effect, **found})


def _tested(draft: Comparison, family: int, rate: float) -> Comparison:
    n, m = len(draft.a.values), len(draft.b.values)
    few = n < pairs_needed(rate / family) if draft.matched else least_p(n, m) >= rate / family
    if few:
        if draft.matched:
            reason = f"{n} pairs; {pairs_needed(rate / family)} can show a difference"
        else:
            needed = trials_needed(rate / family)
            reason = f"{n} and {m} trials; {needed} and {needed} can show a difference"
        return draft.model_copy(update={"verdict": "too few trials", "reason": reason})
    p = _p_of_pairs(draft) if draft.matched else _p_of_sides(draft)
    shown = _detectable(draft, rate / family)
    return draft.model_copy(update={"p": p, "detectable": shown})


def _p_of_pairs(draft: Comparison) -> float:
    apart = np.log(draft.b.values) - np.log(draft.a.values)
    return float(wilcoxon(apart).pvalue) if apart.any() else 1.0


def _p_of_sides(draft: Comparison) -> float:
    a, b = draft.a.values, draft.b.values
    distinct = len({*a, *b}) == len(a) + len(b)
    method = "exact" if distinct and len(a) + len(b) <= EXACT_UP_TO else "asymptotic"
    return float(mannwhitneyu(b, a, method=method).pvalue)


def _detectable(draft: Comparison, rate: float) -> float | None:
    """By the power of a t test, of whose efficiency the tests by ranks have `EFFICIENCY` at the
    least (Hodges and Lehmann, Annals of Mathematical Statistics, 1956).
    """
    if min(*draft.a.values, *draft.b.values) <= 0:
        return None
    a, b = np.log(draft.a.values), np.log(draft.b.values)
    if draft.matched:
        free, error = len(a) - 1, np.std(b - a, ddof=1) / np.sqrt(len(a))
    else:
        free = len(a) + len(b) - 2
        deviation = np.sqrt(sum(((side - side.mean()) ** 2).sum() for side in (a, b)) / free)
        error = deviation * np.sqrt(1 / len(a) + 1 / len(b))
    error /= np.sqrt(EFFICIENCY)
    return float(np.expm1((t.ppf(1 - rate / 2, free) + t.ppf(POWER, free)) * error))


def _nearer(pair: Pair, found: Comparison, off: float) -> Pair:
    """The pair with B moved towards A by as much as it may be off."""
    factor = 1 - off if (found.effect or 0.0) > 0 else 1 + off
    values = [value * factor for value in pair.b.values]
    return pair._replace(b=pair.b.model_copy(update={"values": values}))


def _lost(found: Comparison, nearer: Comparison) -> bool:
    """Whether a difference is gone, or is one to the other side."""
    same_side = (found.effect or 0.0) * (nearer.effect or 0.0) > 0
    return found.verdict == "different" and not (nearer.verdict == "different" and same_side)


def _doubted(found: Comparison, off: float) -> Comparison:
    reason = f"what was taken off for the host may be {off:.1%} off, and then there is none"
    return found.model_copy(update={"verdict": "no difference shown", "reason": reason})


def _called(draft: Comparison, corrected: float, rate: float) -> Comparison:
    verdict: Verdict = "different" if corrected < rate else "no difference shown"
    return draft.model_copy(update={"p_corrected": corrected, "verdict": verdict})
