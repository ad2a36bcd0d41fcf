"""The gate's judgement over trials with a known ceiling."""

from harness.analysis.compare import RATE
from harness.gate.trial import GateTrial
from harness.gate.verdict import against_baseline, against_ceiling
from tests.gate.simulated import Simulated

LOAD = 10_000.0


def trials(ceiling: float, number: int, noise: float = 0.01, **others: object) -> list[GateTrial]:
    return Simulated(ceiling, noise, **others).measure(LOAD, number)  # type: ignore[arg-type]


def test_unchanged_holds_and_a_tenth_less_is_below() -> None:
    baseline = trials(8000, 20, seed=2)
    same = against_baseline(baseline, trials(8000, 10), 0.03, RATE)
    slower = against_baseline(baseline, trials(7200, 10), 0.03, RATE)
    assert same.outcome == "holds", same
    assert slower.outcome == "below" and slower.high is not None and slower.high < 0.97, slower
    assert 0.88 < slower.ratio < 0.92


def test_less_by_the_tolerance_alone_is_never_called_clearly() -> None:
    outcomes = [
        against_baseline(
            trials(8000, 20, seed=seed), trials(7760, 10, seed=100 + seed), 0.03, RATE
        ).outcome
        for seed in range(100)
    ]
    assert outcomes.count("cannot tell") >= 90


def test_what_spreads_too_wide_cannot_be_told_and_says_so() -> None:
    wide = against_baseline(trials(8000, 20, 0.15), trials(7800, 10, 0.15, seed=3), 0.03, RATE)
    assert wide.outcome == "cannot tell" and "spread too wide" in wide.why


def test_too_few_trials_say_how_many_it_takes() -> None:
    few = against_baseline(trials(8000, 2), trials(7000, 2), 0.03, RATE)
    assert few.outcome == "cannot tell" and "can show a difference" in few.why


def test_a_busy_machine_excuses_what_is_below_but_not_what_holds() -> None:
    baseline = trials(8000, 20)
    below = against_baseline(baseline, trials(7000, 10, foreign=0.3), 0.03, RATE)
    assert below.outcome == "cannot tell" and "other programs took 30%" in below.why
    assert against_baseline(baseline, trials(8100, 10, foreign=0.3), 0.03, RATE).outcome == "holds"


def test_slowed_cores_excuse_what_is_below_once_the_correction_may_be_at_fault() -> None:
    baseline = trials(8000, 20)
    little = against_baseline(baseline, trials(7000, 10, slowed=0.05), 0.03, RATE)
    much = against_baseline(baseline, trials(7000, 10, slowed=0.2), 0.03, RATE)
    assert little.outcome == "below"
    assert much.outcome == "cannot tell" and "slowed the server's cores by 20%" in much.why


def test_a_number_holds_fails_or_cannot_be_told() -> None:
    now = trials(8000, 10)
    assert against_ceiling(now, 7500, RATE).outcome == "holds"
    assert against_ceiling(now, 8500, RATE).outcome == "below"
    assert against_ceiling(now, 8000, RATE).outcome == "cannot tell"
