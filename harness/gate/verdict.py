"""Whether a ceiling holds: from all trials, or that they cannot tell.

Against a baseline it is a test of non-inferiority: the trials are compared with those of the
baseline less the tolerance, by the same Mann-Whitney test as `stackcost diff`. Clearly above holds,
clearly below fails. Against a number it is a sign test: how many trials are above it, if each had
the chance of a half. Both are two-sided and ask nothing of the distribution.
"""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict
from scipy.stats import binomtest

from harness.gate.trial import FOREIGN_LIMIT, GateTrial, foreign_share, judged, slowed_share
from stackcost.analysis.compare import Comparison, Pair, compare
from stackcost.analysis.same_host import Felt, HostPart, Observed, host_part
from stackcost.analysis.spread import Spread, spread

# Trials are corrected for it; the correction may be a third of it off.
SLOWED_EXCUSE = 0.10
UNIT = "connections/s"
NO_PART = HostPart(([[]], [[]]), Felt(0.0, 0.0), Felt(0.0, 0.0), 0.0)  # nothing was read

Outcome = Literal["holds", "below", "cannot tell"]


class Verdict(BaseModel):
    """`seen`: of the trials that were judged; `wanted`: of the baseline's, or the number. `ratio`:
    of the two; of a baseline as `stackcost.analysis.ranks` has it, of a number the median over it.

    `low`, `high`: its interval, `coverage` as in `Spread`. `floor`: the least ratio that is wanted.
    `rate`: how often a verdict on a server exactly at the floor is wrong. `why`: what keeps it from
    telling, and what would help; empty for the other outcomes.
    `slower`, `felt`: of the memory that all cores share, as in `HostPart`; it is corrected for.
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
    slower: float = 0.0
    felt: float = 0.0


def against_baseline(
    baseline: Sequence[GateTrial], now: Sequence[GateTrial], tolerance: float, rate: float
) -> Verdict:
    """Whether `now` is not below the baseline less `tolerance` (0.03 is 3 %)."""
    floor = 1 - tolerance
    before, after = judged(baseline, now), judged(now, baseline)
    part = host_part([_costs(before)], [_costs(after)]) or NO_PART
    wanted, seen = (
        _spread(trials, factors)
        for trials, (factors,) in zip((before, after), part.factors, strict=True)
    )
    least = spread([value * floor for value in wanted.values], UNIT)
    (found,) = compare([Pair("cps", "", least, seen)], [True], rate, [part.unsure])
    assert found.ratio is not None and found.effect is not None
    reason = found.reason
    if reason and part.loads.slower:
        reason = f"memory is {part.loads.slower:+.0%} against the baseline: {reason}"
    verdict = Verdict(
        outcome=_outcome(found),
        wanted=wanted,
        seen=seen,
        ratio=found.ratio * floor,
        low=None if found.low is None else found.low * floor,
        high=None if found.high is None else found.high * floor,
        coverage=found.coverage,
        floor=floor,
        p=found.p,
        rate=rate,
        slower=part.loads.slower,
        felt=part.loads.felt,
    )
    return _excused(verdict, after, reason)


def _costs(trials: Sequence[GateTrial]) -> list[Observed]:
    """What a connection took of whole cores, and a load meanwhile, while nothing slowed them."""
    return [Observed(1 / trial.cps, trial.load_ns) for trial in trials]


def _outcome(found: Comparison) -> Outcome:
    if found.verdict != "different" or found.effect is None:
        return "cannot tell"
    return "holds" if found.effect > 0 else "below"


def against_ceiling(now: Sequence[GateTrial], ceiling: float, rate: float) -> Verdict:
    """Whether `now` is at least `ceiling` connections/s."""
    after = judged(now)
    seen = _spread(after)
    above = sum(value >= ceiling for value in seen.values)
    p = float(binomtest(above, len(seen.values)).pvalue)
    outcome: Outcome = "cannot tell"
    if p < rate:
        outcome = "holds" if 2 * above > len(seen.values) else "below"
    verdict = Verdict(
        outcome=outcome,
        wanted=spread([ceiling], UNIT),
        seen=seen,
        ratio=(seen.median or 0.0) / ceiling,
        low=None if seen.low is None else seen.low / ceiling,
        high=None if seen.high is None else seen.high / ceiling,
        coverage=seen.coverage,
        floor=1.0,
        p=p,
        rate=rate,
    )
    return _excused(verdict, after, "")


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
    taken, slowed = foreign_share(now), slowed_share(now)
    found = []
    if taken > FOREIGN_LIMIT:
        found.append(
            f"other programs took {taken:.0%} of the server's cores (limit {FOREIGN_LIMIT:.0%})"
        )
    if slowed > SLOWED_EXCUSE:
        found.append(
            "something outside of this machine, as a neighbour on its host, slowed the server's "
            f"cores by {slowed:.0%} (limit {SLOWED_EXCUSE:.0%})"
        )
    return " and ".join(found)


def _spread(trials: Sequence[GateTrial], factors: Sequence[float] = ()) -> Spread:
    """Of the ceilings, had each trial's cost been multiplied by its factor."""
    cost = factors or [1.0] * len(trials)
    return spread([trial.cps / part for trial, part in zip(trials, cost, strict=True)], UNIT)
