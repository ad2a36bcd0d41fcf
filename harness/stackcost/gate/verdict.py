"""Decides from all trials whether a rate holds; the trials may also be too few to decide.

`stackcost.analysis.comparison` makes the tests. Against a baseline it is a test of non-inferiority:
the limit is the baseline less the tolerance. Clearly above the limit the rate holds, clearly below
it fails. Against a number each trial is paired with that number. Trials that are left out are in no
test; if too many are, it cannot tell.

Two measurements of the same server differ by more than their trials tell
(`stackcost.analysis.between_runs`), so a rate is only below its limit if it is so by more than
that.
"""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from stackcost.analysis.between_runs import ASSUMED, BetweenRuns
from stackcost.analysis.comparison import Comparison, Design, compare
from stackcost.analysis.series import Series
from stackcost.analysis.spread import Spread, spread
from stackcost.gate.figure import UNIT
from stackcost.gate.trial import GateTrial, comparable, too_few

Outcome = Literal["holds", "below", "cannot tell"]


class Verdict(BaseModel):
    """The result of the comparison.

    `seen`: the judged trials; all, if too few can be judged. `wanted`: the baseline's trials, or
    the number. `ratio`: seen / wanted; `low`, `high`, `coverage`: as in `Comparison`. `floor`: the
    lowest ratio that holds.
    `rate`: error rate of the verdict for a server exactly at the floor. `apart`: the share by which
    two measurements of the same server may differ, None against a number. `why`: why the trials
    cannot decide and what helps; empty for the other outcomes.
    """

    model_config = ConfigDict(frozen=True)

    outcome: Outcome
    wanted: Spread
    seen: Spread
    ratio: float
    low: float | None
    high: float | None
    coverage: float | None
    floor: float
    p: float | None
    rate: float
    apart: float | None = None
    why: str = ""


def against_baseline(
    baseline: Sequence[GateTrial],
    now: Sequence[GateTrial],
    tolerance: float,
    rate: float,
    between: BetweenRuns = ASSUMED,
) -> Verdict:
    """Whether `now` is not below the baseline less `tolerance` (0.03 is 3 %)."""
    floor = 1 - tolerance
    if few := too_few(now, baseline) or too_few(baseline, now):
        return _undecided(spread([trial.cps for trial in baseline], UNIT), now, floor, rate, few)
    sides = _series(comparable(baseline, now)), _series(comparable(now, baseline))
    found = compare(*sides, Design(paired=False, no_change=floor), rate)
    surely = compare(*sides, Design(paired=False, no_change=floor, between=between), rate)
    verdict = _verdict(found, found.a, floor, rate).model_copy(
        update={"apart": between.apart, "low": surely.low, "high": surely.high}
    )
    if verdict.outcome == "below" and not surely.differs:
        why = f"it is below the limit, but {surely.reason}"
        return verdict.model_copy(update={"outcome": "cannot tell", "why": why})
    return verdict


def against_number(now: Sequence[GateTrial], number: float, rate: float) -> Verdict:
    """Whether `now` is at least `number` connections/s."""
    limit = spread([number], UNIT)
    if few := too_few(now):
        return _undecided(limit, now, 1.0, rate, few)
    after = comparable(now)
    wanted = Series.given(number, range(len(after)), UNIT, is_rate=True)
    return _verdict(compare(wanted, _series(after), Design(paired=True), rate), limit, 1.0, rate)


def _series(trials: Sequence[GateTrial]) -> Series:
    return Series.of(dict(enumerate(trial.cps for trial in trials)), UNIT, is_rate=True)


def _verdict(found: Comparison, wanted: Spread, floor: float, rate: float) -> Verdict:
    assert found.ratio is not None
    outcomes: dict[str, Outcome] = {"higher": "holds", "lower": "below"}
    outcome = outcomes.get(found.verdict, "cannot tell")
    wide = f"the spread of the trials around {floor:.1%} is too wide"
    return Verdict(
        outcome=outcome,
        wanted=wanted,
        seen=found.b,
        ratio=found.ratio,
        low=found.low,
        high=found.high,
        coverage=found.coverage,
        floor=floor,
        p=found.p,
        rate=rate,
        why=(found.reason or wide) if outcome == "cannot tell" else "",
    )


def _undecided(
    wanted: Spread, now: Sequence[GateTrial], floor: float, rate: float, why: str
) -> Verdict:
    """A verdict that shows the trials as they are, and judges nothing."""
    seen = spread([trial.cps for trial in now], UNIT)
    return Verdict(
        outcome="cannot tell",
        wanted=wanted,
        seen=seen,
        ratio=(seen.median or 0.0) / (wanted.median or 1.0),
        low=None,
        high=None,
        coverage=None,
        floor=floor,
        p=None,
        rate=rate,
        why=why,
    )
