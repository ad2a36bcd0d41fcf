"""What the gate makes of a trial's readings."""

from dataclasses import replace

import pytest

from harness.analysis.readings import Readings
from harness.gate.trial import GateTrial, gate_trial
from harness.model import Trial
from tests.analysis.trials import add_other_program, counter, gauge, load_trial


def found(trial: Trial) -> GateTrial:
    gate = gate_trial(Readings(trial), (1,))
    assert gate is not None
    return gate


def test_a_server_that_keeps_up_is_judged_by_the_share_of_the_cores_that_it_took() -> None:
    trial = load_trial(offered=1000, completed=10_000)  # 100 us each: a tenth of the core
    assert found(trial).kept_up and found(trial).cps == pytest.approx(10_000)
    add_other_program(trial, 5.0)
    beside = found(trial)
    assert beside.foreign == pytest.approx(0.5) and beside.disturbed
    assert beside.cps == pytest.approx(10_000)


def test_a_server_that_does_not_is_judged_by_what_it_completed_of_what_was_left_to_it() -> None:
    trial = load_trial(offered=2000, completed=10_000)
    assert not found(trial).kept_up and found(trial).cps == pytest.approx(1000)
    add_other_program(trial, 5.0)
    assert found(trial).cps == pytest.approx(2000)


def test_slow_cores_are_corrected_for_and_disturb() -> None:
    trial = load_trial(offered=1000, completed=10_000)
    trial.samples += counter("core.work_count", 500, {"cpu": "1"})
    trial.samples += gauge("core.work_least", [6e-6], {"cpu": "1"})
    known = trial.samples
    same = replace(trial, samples=known + counter("core.work_time", 500 * 6.06e-6, {"cpu": "1"}))
    slow = replace(trial, samples=known + counter("core.work_time", 500 * 7.2e-6, {"cpu": "1"}))
    assert not found(same).disturbed and found(same).cps == pytest.approx(10_100)
    assert found(slow).disturbed and found(slow).cps == pytest.approx(12_000)
