"""Compares B with A: whether B costs more, by how much, and how certain that is.

Factors, `stackcost diff`, gates, the trend and the gains of HTTP tests all use `compare`. If the
turns of a round were paired, rounds that only one side has are left out. Over several loads the
value of a turn is the mean deviation of its trials from the centre of both sides
(`comparing.pairing`). Nothing is corrected for other load on the host: a probe on the
server's core that told how slow the host is would also tell how much the server disturbs it.
Size, direction, interval and verdict come from the same ranks (`comparing.ranks`).

The test for a difference is Wilcoxon's test of the pairs' ratios, which are free of slow drifts, or
a Mann-Whitney test if A and B are independent. Both are two-sided and independent of the
distribution. Several figures that are judged together are corrected by Holm's method, so that at
most the share `RATE` of comparisons of identical set-ups is called different. The turns of one run
are not independent runs: if A and B are of two runs, a difference must also remain when B is moved
towards A by as much as two runs of one system may be apart (`comparing.between_runs`). The
interval is wider by the same, and what is stated as detectable is beyond it.

With few rounds no result can reach this rate: with equal set-ups the most extreme order of n + m
values has the probability 2 / C(n+m, n), and the most extreme signs of n pairs have 2 / 2^n. If
there are too few pairs for their own test, they are tested as two independent sides. Drifts then
make the test less sensitive. But it assumes more: where the first turn of a round is always dearer
than the second, random orders of so few rounds may be at the expense of one side, and the rate is
not kept (docs/method.md, comparing). With even fewer rounds the comparison cannot
tell, and says how many rounds are needed, as asv does (asv/_stats.py).

Counts of instructions need no test: by how much those of one system differ is known
(`COUNTS_DIFFER`), from boots of the guest on busy and quiet machines, and a larger difference is
one of the systems.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from stackcost.analysis.comparing import ranks, significance
from stackcost.analysis.comparing.between_runs import BetweenRuns
from stackcost.analysis.comparing.pairing import paired_values
from stackcost.analysis.comparing.series import Series
from stackcost.analysis.spread import Spread, spread
from stackcost.analysis.trial.thresholds import COUNTS_DIFFER, RATE

Test = Literal["pairs", "sides"]
NOT_IN_TURN = (
    "all runs of one side were made before those of the other, so what changed on the machine "
    "between them cannot be told from what the systems differ by: make the runs in turn (A B A B)"
)


class Design(NamedTuple):
    """How A and B were measured and are compared.

    `paired`: the turns of a round were made one after the other, so that drifts affect both.
    `no_change`: the ratio B / A that counts as equal. `between`: how much measurements of one
    system differ, if A and B are of two measurements; None if they took turns in one. `counted`:
    the values are counts of instructions, not measured ones.
    """

    paired: bool
    no_change: float = 1.0
    between: BetweenRuns | None = None
    counted: bool = False


COUNTED = Design(paired=False, counted=True)


class Question(NamedTuple):
    """A and B of one figure. `at`: describes the load. Only `judged` figures get a verdict."""

    a: Series
    b: Series
    design: Design
    figure: str = ""
    at: str = ""
    judged: bool = True


class Comparison(BaseModel):
    """The answer. `a`, `b`: the values that were compared; over several loads multiples of A's
    median.

    `paired`: as in `Design`; entry i of both is of the same round. `ratio`: B over A, of all turns
    of both or of the pairs, as in `comparing.ranks`; None where A is not above zero.
    `low`, `high`: its interval, which holds the truth in the share `coverage` of all repetitions.
    `effect`: -1 (B is throughout below what counts as no difference) to 1; Cliff's delta, or of
    pairs their rank-biserial correlation. `p`: of the test; `p_corrected`: by Holm over all judged
    figures. None where it was not judged, was counted, or cannot be told; `reason` then says why.
    `detectable`: the ratio, less 1, that as many turns with such a spread would show nine times in
    ten. `counted`: as in `Design`; there is no interval then. `set_aside`: in words, what is not in
    it.
    """

    model_config = ConfigDict(frozen=True)

    figure: str = ""
    at: str = ""
    unit: str
    a: Spread
    b: Spread
    paired: bool = False
    counted: bool = False
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    coverage: float | None = None
    effect: float | None = None
    p: float | None = None
    p_corrected: float | None = None
    detectable: float | None = None
    verdict: Literal[
        "dearer", "cheaper", "higher", "lower", "no difference shown", "cannot tell", "not judged"
    ] = "not judged"
    reason: str = ""
    set_aside: list[str] = []

    @property
    def differs(self) -> bool:
        """Whether a difference was shown."""
        return self.verdict in ("dearer", "cheaper", "higher", "lower")

    @property
    def ratios(self) -> Spread:
        """B over A of pairs: the rounds' own ratios; as their median `ratio`, with its interval."""
        if self.ratio is None:
            return Spread(unit="1", reason=self.reason)
        each = [b / a for a, b in zip(self.a.values, self.b.values, strict=True)]
        return Spread(
            unit="1",
            values=each,
            median=self.ratio,
            minimum=min(each),
            maximum=max(each),
            low=self.low,
            high=self.high,
            coverage=self.coverage,
            rounds=self.a.rounds,
            reason=self.a.reason,
        )


def compare(a: Series, b: Series, design: Design, rate: float = RATE) -> Comparison:
    """One figure of B against A's."""
    (found,) = compare_all([Question(a, b, design)], rate)
    return found


def ratio_of(a: Series, b: Series, design: Design) -> Comparison:
    """The ratio of one figure of B over A's, without a verdict."""
    (found,) = compare_all([Question(a, b, design, judged=False)])
    return found


def compare_all(questions: Sequence[Question], rate: float = RATE) -> list[Comparison]:
    """Several figures, corrected for how many of them are judged."""
    found = [_sized(question) for question in questions]
    judged = [at for at, each in enumerate(questions) if each.judged and not each.design.counted]
    family = len(judged)
    for at, question in enumerate(questions):
        if question.judged and question.design.counted:
            found[at] = _counted(found[at], question.design.no_change)
    for at in judged:
        found[at] = _tested(found[at], questions[at], rate / family)
    tested = [at for at in judged if found[at].p is not None]
    corrected = significance.holm([found[at].p or 0.0 for at in tested])
    surely = significance.holm([_p_apart(found[at], questions[at], rate / family) for at in tested])
    for at, p, p_apart in zip(tested, corrected, surely, strict=True):
        found[at] = _called(found[at], questions[at], p, p_apart, rate)
    return found


def _sized(question: Question) -> Comparison:
    """Size, direction and interval, or the reason why there are none."""
    a, b, design, figure, at, _ = question
    mine, theirs, unit, set_aside, reason = paired_values(a, b, design.paired)
    draft = Comparison(
        figure=figure,
        at=at,
        unit=unit,
        a=spread(list(mine.values()), unit, a.reason or reason, list(mine)),
        b=spread(list(theirs.values()), unit, b.reason or reason, list(theirs)),
        paired=design.paired,
        counted=design.counted,
        set_aside=set_aside,
        reason=reason,
    )
    if reason:
        return draft
    found = _against(draft, design.no_change)
    interval = (not design.counted and found.interval) or (None, None, None)
    low, high = (None if end is None else end * design.no_change for end in interval[:2])
    if design.between and low is not None and high is not None:
        nearest = 1 - design.between.apart
        low, high = low * nearest, high / nearest
    return draft.model_copy(
        update={
            "ratio": None if found.ratio is None else found.ratio * design.no_change,
            "effect": found.effect,
            "low": low,
            "high": high,
            "coverage": interval[2],
        }
    )


def _counted(draft: Comparison, no_change: float) -> Comparison:
    """Told when they differ by more than counts of one system do, and than those of a side do."""
    if draft.ratio is None:
        return draft.model_copy(update={"verdict": "cannot tell"})
    own = max(max(side.values) / min(side.values) - 1 for side in (draft.a, draft.b))
    ratio = draft.ratio / no_change
    apart = max(ratio, 1 / ratio) - 1
    reason = f"counts of one system differ by at most {COUNTS_DIFFER:.1%}"
    if apart > max(own, COUNTS_DIFFER):
        verdict = "dearer" if ratio > 1 else "cheaper"
    elif own > COUNTS_DIFFER:
        verdict = "cannot tell"
        reason = f"counts of one side differ by {own:.1%}, and {reason}: count again"
    else:
        verdict = "no difference shown"
    return draft.model_copy(update={"verdict": verdict, "reason": reason})


def _against(draft: Comparison, no_change: float) -> ranks.RankEffect:
    """Of B against what A would be without a difference."""
    of = ranks.effect_of_pairs if draft.paired else ranks.effect_of_sides
    return of([value * no_change for value in draft.a.values], draft.b.values)


def _tested(draft: Comparison, question: Question, rate: float) -> Comparison:
    """With p; or it cannot tell, with the reason."""
    if draft.effect is None:
        return draft.model_copy(update={"verdict": "cannot tell"})
    if (between := question.design.between) and between.not_in_turn:
        return draft.model_copy(update={"verdict": "cannot tell", "reason": NOT_IN_TURN})
    by = _test(draft, question, rate)
    if by is None:
        reason = _too_few(draft, question, rate)
        return draft.model_copy(update={"verdict": "cannot tell", "reason": reason})
    p = _p(draft, by, question.design.no_change)
    shown = significance.detectable(draft.a.values, draft.b.values, by == "pairs", rate)
    if shown is not None and between:
        shown = (1 + shown) * (1 + between.detectable) - 1
    return draft.model_copy(update={"p": p, "detectable": shown})


def _test(draft: Comparison, question: Question, rate: float) -> Test | None:
    """The test that can reach the rate; a number that is given is no side that spreads."""
    n, m = len(draft.a.values), len(draft.b.values)
    if draft.paired and n >= significance.pairs_needed(rate):
        return "pairs"
    can_tell = significance.least_p(n, m) < rate and not question.a.is_given
    return "sides" if can_tell else None


def _too_few(draft: Comparison, question: Question, rate: float) -> str:
    n, m = len(draft.a.values), len(draft.b.values)
    if question.a.is_given:
        return f"{m} trials; {significance.pairs_needed(rate)} can show a difference"
    needed = significance.values_needed(rate)
    if draft.paired:
        return f"{n} {'pair' if n == 1 else 'pairs'}; {needed} can show a difference"
    return f"{n} and {m} trials; {needed} and {needed} can show a difference"


def _p(draft: Comparison, by: Test, no_change: float) -> float:
    a, b = [value * no_change for value in draft.a.values], draft.b.values
    if by == "pairs":
        return significance.p_of_pairs(a, b)
    # Sides that point the other way than their pairs show nothing.
    agree = ranks.effect_of_sides(a, b).effect * _against(draft, no_change).effect > 0
    return significance.p_of_sides(a, b) if agree else 1.0


def _p_apart(draft: Comparison, question: Question, rate: float) -> float:
    """The p of B moved towards A by as much as two measurements may be apart; 1 where that makes it
    no difference, or one to the other side.
    """
    by, (_, no_change, between, _) = _test(draft, question, rate), question.design
    if by is None or draft.effect is None or between is None:
        return draft.p or 0.0
    nearer = 1 - between.apart if draft.effect > 0 else 1 / (1 - between.apart)
    if _against(draft, no_change / nearer).effect * draft.effect <= 0:
        return 1.0
    return _p(draft, by, no_change / nearer)


def _called(
    draft: Comparison, question: Question, p: float, p_apart: float, rate: float
) -> Comparison:
    verdict, reason, between = "no difference shown", draft.reason, question.design.between
    if p_apart < rate:
        up, down = ("higher", "lower") if question.b.is_rate else ("dearer", "cheaper")
        verdict = up if (draft.effect or 0.0) > 0 else down
    elif p < rate and between:
        verdict = "cannot tell"
        reason = (
            f"two measurements of the same system may differ by {between.words}: measure both in "
            "one run (stackcost run, both in `servers`), where they take turns"
        )
    return draft.model_copy(update={"p_corrected": p, "verdict": verdict, "reason": reason})
