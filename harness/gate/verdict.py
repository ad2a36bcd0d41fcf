"""Decides from all trials whether a ceiling holds; the trials may also be too few to decide.

`stackcost.analysis.comparison` makes the tests. Against a baseline it is a test of non-inferiority:
the limit is the baseline less the tolerance. Clearly above the limit the ceiling holds, clearly
below it fails. Against a number each trial is paired with that number.

Two measurements of the same server differ by more than their trials tell
(`stackcost.analysis.between`), so a ceiling is only below its limit if it is so by more than that.
"""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from stackcost.analysis.between import ASSUMED, Between
from stackcost.analysis.comparison import Comparison, Design, compare
from stackcost.analysis.series import Series
from stackcost.analysis.spread import Spread, spread
from stackcost.analysis.thresholds import GATE_FOREIGN_LIMIT, GATE_SLOWED_EXCUSE
from stackcost.harness.gate.trial import GateTrial, foreign_share, judged, slowed_share_of_trials

UNIT = "connections/s"

Outcome = Literal["holds", "below", "cannot tell"]


class Verdict(BaseModel):
    """The result of the comparison.

    `seen`: the judged trials. `wanted`: the baseline's trials, or the number. `ratio`: seen /
    wanted; `low`, `high`, `coverage`: as in `Comparison`. `floor`: the lowest ratio that holds.
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
    between: Between = ASSUMED,
) -> Verdict:
    """Whether `now` is not below the baseline less `tolerance` (0.03 is 3 %)."""
    floor = 1 - tolerance
    before, after = judged(baseline, now), judged(now, baseline)
    sides = _series(before), _series(after)
    found = compare(*sides, Design(paired=False, no_change=floor), rate)
    surely = compare(*sides, Design(paired=False, no_change=floor, between=between), rate)
    verdict = _verdict(found, found.a, floor, rate).model_copy(
        update={"apart": between.apart, "low": surely.low, "high": surely.high}
    )
    if verdict.outcome == "below" and not surely.differs:
        why = f"it is below the limit, but {surely.reason}"
        return verdict.model_copy(update={"outcome": "cannot tell", "why": why})
    return _excused(verdict, after, found.reason)


def against_ceiling(now: Sequence[GateTrial], ceiling: float, rate: float) -> Verdict:
    """Whether `now` is at least `ceiling` connections/s."""
    after = judged(now)
    wanted = Series.given(ceiling, range(len(after)), UNIT, is_rate=True)
    found = compare(wanted, _series(after), Design(paired=True), rate)
    return _excused(_verdict(found, spread([ceiling], UNIT), 1.0, rate), after, found.reason)


def _series(trials: Sequence[GateTrial]) -> Series:
    return Series.of(dict(enumerate(trial.cps for trial in trials)), UNIT, is_rate=True)


def _verdict(found: Comparison, wanted: Spread, floor: float, rate: float) -> Verdict:
    assert found.ratio is not None
    outcomes: dict[str, Outcome] = {"higher": "holds", "lower": "below"}
    return Verdict(
        outcome=outcomes.get(found.verdict, "cannot tell"),
        wanted=wanted,
        seen=found.b,
        ratio=found.ratio,
        low=found.low,
        high=found.high,
        coverage=found.coverage,
        floor=floor,
        p=found.p,
        rate=rate,
    )


def _excused(verdict: Verdict, now: Sequence[GateTrial], reason: str) -> Verdict:
    """The verdict; "below" becomes "cannot tell" if the machine was busy. Adds the reason.

    Other programs also take caches from the server, so they only make it look worse. A ceiling that
    holds in spite of them holds.
    """
    faults = _faults(now)
    if verdict.outcome == "below" and faults:
        why = f"it is below the limit, but {faults}: end other programs and measure again"
        return verdict.model_copy(update={"outcome": "cannot tell", "why": why})
    if verdict.outcome == "cannot tell":
        why = reason or f"the spread of the trials around {verdict.floor:.1%} is too wide"
        return verdict.model_copy(update={"why": f"{why}; {faults}" if faults else why})
    return verdict


def _faults(now: Sequence[GateTrial]) -> str:
    """How the machine disturbed the median trial; empty if that is within the limits."""
    taken, slowed = foreign_share(now), slowed_share_of_trials(now)
    found = []
    if taken > GATE_FOREIGN_LIMIT:
        found.append(
            f"other programs used {taken:.0%} of the server's cores "
            f"(limit {GATE_FOREIGN_LIMIT:.0%})"
        )
    if slowed > GATE_SLOWED_EXCUSE:
        found.append(
            "something outside this machine, such as another virtual machine on the host, slowed "
            f"the server's cores by {slowed:.0%} (limit {GATE_SLOWED_EXCUSE:.0%})"
        )
    return " and ".join(found)
