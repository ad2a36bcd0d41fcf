"""Decides from all trials whether a ceiling holds; the trials may also be too few to decide.

`stackcost.analysis.comparison` makes the tests. Against a baseline it is a test of non-inferiority:
the limit is the baseline less the tolerance. Clearly above the limit the ceiling holds, clearly
below it fails. Against a number each trial is paired with that number.
"""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from stackcost.analysis.comparison import Comparison, Design, compare
from stackcost.analysis.host_noise import HostNoise
from stackcost.analysis.series import Observation, Series
from stackcost.analysis.spread import Spread, spread
from stackcost.analysis.thresholds import GATE_FOREIGN_LIMIT, GATE_SLOWED_EXCUSE
from stackcost.harness.gate.trial import GateTrial, foreign_share, judged, slowed_share_of_trials

UNIT = "connections/s"

Outcome = Literal["holds", "below", "cannot tell"]


class Verdict(BaseModel):
    """The result of the comparison.

    `seen`: the judged trials. `wanted`: the baseline's trials, or the number. `ratio`: seen /
    wanted; `low`, `high`, `coverage`, `host`: as in `Comparison`. `floor`: the lowest ratio that
    holds. `rate`: error rate of the verdict for a server exactly at the floor. `why`: why the
    trials cannot decide and what helps; empty for the other outcomes.
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
    why: str = ""
    host: HostNoise | None = None


def against_baseline(
    baseline: Sequence[GateTrial], now: Sequence[GateTrial], tolerance: float, rate: float
) -> Verdict:
    """Whether `now` is not below the baseline less `tolerance` (0.03 is 3 %)."""
    floor = 1 - tolerance
    before, after = judged(baseline, now), judged(now, baseline)
    whole = all(trial.whole for trial in (*before, *after))
    design = Design(paired=False, no_change=floor)
    found = compare(_series(before, whole), _series(after, whole), design, rate)
    return _excused(_verdict(found, found.a, floor, rate), after, _reason(found))


def against_ceiling(now: Sequence[GateTrial], ceiling: float, rate: float) -> Verdict:
    """Whether `now` is at least `ceiling` connections/s."""
    after = judged(now)
    wanted = Series.given(ceiling, range(len(after)), UNIT, is_rate=True)
    found = compare(wanted, _series(after), Design(paired=True), rate)
    return _excused(_verdict(found, spread([ceiling], UNIT), 1.0, rate), after, found.reason)


def _series(trials: Sequence[GateTrial], whole: bool = False) -> Series:
    """`whole`: the figures of the whole trial are known for all compared trials."""
    return Series.of_trials(
        {
            number: Observation(
                trial.cps, trial.whole.load_ns, trial.whole.call_ns, trial.whole.cps
            )
            if whole and trial.whole
            else Observation(trial.cps, trial.load_ns)
            for number, trial in enumerate(trials)
        },
        UNIT,
        is_rate=True,
    )


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
        host=found.host,
    )


def _reason(found: Comparison) -> str:
    """Why the trials cannot decide, and how the host differed from the baseline's host."""
    if not found.reason or not found.host:
        return found.reason
    loads, calls = found.host.loads.slower, found.host.calls.slower
    slower = [f"memory access time changed by {loads:+.0%}"] if loads else []
    slower += [f"system call time changed by {calls:+.0%}"] if calls else []
    if not slower:
        return found.reason
    return f"since the baseline, {' and '.join(slower)}: {found.reason}"


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
