"""Decides from all trials whether a figure holds; the trials may also be too few to decide.

`comparing.comparison` makes the tests. Against a baseline it is a test of non-inferiority:
the limit is the baseline less the tolerance. Clearly above the limit the rate holds, clearly below
it fails. Against a number each trial is paired with that number. Trials that are left out are in no
test; if too many are, it cannot tell.

Two measurements of the same server differ by more than their trials tell
(`comparing.between_runs`; of counts `COUNTS_DIFFER`), so a rate is only below its limit,
and a cost above it, if it is so by more than that.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from stackcost.analysis.comparing.between_runs import ASSUMED, BetweenRuns
from stackcost.analysis.comparing.comparison import COUNTED, Comparison, Design, compare
from stackcost.analysis.comparing.series import Series
from stackcost.analysis.spread import spread
from stackcost.analysis.trial.thresholds import COUNTS_DIFFER
from stackcost.gate.figure import Judged
from stackcost.gate.trial import GateTrial, comparable, too_few

Outcome = Literal["holds", "below", "above", "cannot tell"]


class Verdict(NamedTuple):
    """`compared`: the judged trials (b) with the baseline's or the number (a); all trials, if too
    few can be judged. `limit`: the ratio at which it begins to hold. `rate`: error rate of the
    verdict for a server exactly at the limit. `apart`: the share by which two measurements of the
    same server may differ, None against a number. `why`: why the trials cannot decide and what
    helps; empty for the other outcomes.
    """

    outcome: Outcome
    compared: Comparison
    limit: float
    rate: float
    apart: float | None = None
    why: str = ""


def against_baseline(
    figure: Judged,
    baseline: Sequence[GateTrial],
    now: Sequence[GateTrial],
    tolerance: float,
    rate: float,
    between: BetweenRuns = ASSUMED,
) -> Verdict:
    """Whether a rate is not below the baseline less `tolerance` (0.03 is 3 %), or a cost not above
    it and the tolerance.
    """
    limit = 1 + tolerance if figure.counted else 1 - tolerance
    if few := too_few(now, baseline) or too_few(baseline, now):
        wanted = _values(figure, baseline)
        return _undecided(figure, wanted, now, limit, rate, few)._replace(apart=between.apart)
    sides = comparable(baseline, now), comparable(now, baseline)
    a, b = (_series(figure, side) for side in sides)
    if figure.counted:
        found = compare(a, b, COUNTED._replace(no_change=limit))
        outcome: Outcome = "above" if found.verdict == "dearer" else "holds"
        return Verdict(outcome, found, limit, rate, COUNTS_DIFFER)
    found = compare(a, b, Design(paired=False, no_change=limit), rate)
    surely = compare(a, b, Design(paired=False, no_change=limit, between=between), rate)
    ends = {"low": surely.low, "high": surely.high}
    verdict = _verdict(found.model_copy(update=ends), limit, rate)._replace(apart=between.apart)
    if verdict.outcome == "below" and not surely.differs:
        why = f"it is below the limit, but {surely.reason}"
        return verdict._replace(outcome="cannot tell", why=why)
    return verdict


def against_number(figure: Judged, now: Sequence[GateTrial], number: float, rate: float) -> Verdict:
    """Whether `now` is at least `number` connections/s."""
    if few := too_few(now):
        return _undecided(figure, [number], now, 1.0, rate, few)
    after = _series(figure, comparable(now))
    wanted = Series.given(number, list(after.rounds), figure.unit, is_rate=True)
    found = compare(wanted, after, Design(paired=True), rate)
    return _verdict(found.model_copy(update={"a": spread([number], figure.unit)}), 1.0, rate)


def _values(figure: Judged, trials: Sequence[GateTrial]) -> list[float]:
    return [trial.figures[figure.name] for trial in trials]


def _series(figure: Judged, trials: Sequence[GateTrial]) -> Series:
    values = dict(enumerate(_values(figure, trials)))
    return Series.of(values, figure.unit, is_rate=not figure.counted)


def _verdict(found: Comparison, limit: float, rate: float) -> Verdict:
    outcomes: dict[str, Outcome] = {"higher": "holds", "lower": "below"}
    if found.verdict in outcomes:
        return Verdict(outcomes[found.verdict], found, limit, rate)
    why = found.reason or f"the spread of the trials around {limit:.1%} is too wide"
    return Verdict("cannot tell", found, limit, rate, why=why)


def _undecided(
    figure: Judged,
    wanted: Sequence[float],
    now: Sequence[GateTrial],
    limit: float,
    rate: float,
    why: str,
) -> Verdict:
    """A verdict that shows the trials as they are, and judges nothing."""
    a, b = spread(wanted, figure.unit), spread(_values(figure, now), figure.unit)
    ratio = (b.median or 0.0) / (a.median or 1.0)
    found = Comparison(unit=figure.unit, a=a, b=b, ratio=ratio, verdict="cannot tell", reason=why)
    return Verdict("cannot tell", found, limit, rate, why=why)
