"""Whether a ceiling holds: from all trials, or that they cannot tell.

Both are asked of `stackcost.analysis.comparison`. Against a baseline it is a test of
non-inferiority: what counts as no difference is the baseline less the tolerance. Clearly above
holds, clearly below fails. Against a number the trials are pairs of what was measured and what is
wanted.
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
    """`seen`: of the trials that were judged; `wanted`: of the baseline's, or the number. `ratio`:
    of the two, `low`, `high`, `coverage`, `host`: as of `Comparison`.

    `floor`: the least ratio that is wanted. `rate`: how often a verdict on a server exactly at the
    floor is wrong. `why`: what keeps it from telling, and what would help; empty for the other
    outcomes.
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
    """`whole`: the whole trial is known of all that are compared."""
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
    """Why it cannot tell, and what of the host was different from the baseline's."""
    if not found.reason or not found.host:
        return found.reason
    loads, calls = found.host.loads.slower, found.host.calls.slower
    slower = [f"memory is {loads:+.0%}"] if loads else []
    slower += [f"system calls are {calls:+.0%}"] if calls else []
    if not slower:
        return found.reason
    return f"{' and '.join(slower)} against the baseline: {found.reason}"


def _excused(verdict: Verdict, now: Sequence[GateTrial], reason: str) -> Verdict:
    """The verdict, but for a busy machine's fault; with the reason where it cannot tell.

    Other programs cost a server caches, too, so they only ever make it look worse: what holds
    beside them holds.
    """
    faults = _faults(now)
    if verdict.outcome == "below" and faults:
        why = f"it is below, but {faults}: measure where nothing else runs"
        return verdict.model_copy(update={"outcome": "cannot tell", "why": why})
    if verdict.outcome == "cannot tell":
        why = reason or f"the trials spread too wide around {verdict.floor:.1%} of what is wanted"
        return verdict.model_copy(update={"why": f"{why}; {faults}" if faults else why})
    return verdict


def _faults(now: Sequence[GateTrial]) -> str:
    """What the machine did to the median trial; empty when that is within the limits."""
    taken, slowed = foreign_share(now), slowed_share_of_trials(now)
    found = []
    if taken > GATE_FOREIGN_LIMIT:
        found.append(
            f"other programs took {taken:.0%} of the server's cores "
            f"(limit {GATE_FOREIGN_LIMIT:.0%})"
        )
    if slowed > GATE_SLOWED_EXCUSE:
        found.append(
            "something outside of this machine, as a neighbour on its host, slowed the server's "
            f"cores by {slowed:.0%} (limit {GATE_SLOWED_EXCUSE:.0%})"
        )
    return " and ".join(found)
