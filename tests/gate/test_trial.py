"""What the gate makes of a trial's readings."""

from dataclasses import replace

import pytest

from stackcost.analysis.figures.gate import whole_cores_rate
from stackcost.analysis.readings import Readings
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.trial import Trial
from stackcost.gate.measure import LONGEST_SUSTAIN_S, SUSTAIN_S, next_sustain
from stackcost.gate.trial import GateTrial, disturbance, gate_trial
from tests.analysis.runs import CONTEXT
from tests.analysis.trials import add_other_program, counter, gauge, load_trial, slow_slices, tenths
from tests.report import counted


def found(trial: Trial) -> GateTrial:
    return gate_trial(Readings(trial, (1,)), replace(CONTEXT, of_gate=True))


def rate(trial: Trial) -> float:
    return found(trial).figures["whole_cores_rate"]


def test_a_server_that_keeps_up_is_judged_by_the_share_of_the_cores_that_it_took() -> None:
    trial = load_trial(offered=1000, completed=10_000)  # 100 us each: a tenth of the core
    assert not found(trial).limited and rate(trial) == pytest.approx(10_000)
    add_other_program(trial, 5.0)
    assert "other programs" in found(trial).disturbed
    assert rate(trial) == pytest.approx(10_000)


def test_a_cost_of_which_a_part_is_unknown_gives_no_rate() -> None:
    readings = Readings(load_trial(offered=1000, completed=10_000), (1,))
    assert whole_cores_rate(readings, {"user": 50.0, "system": 50.0}) == pytest.approx(10_000)
    assert whole_cores_rate(readings, {"user": None, "system": 50.0}) is None


def test_a_server_that_fell_short_is_judged_by_what_it_completed() -> None:
    trial = load_trial(offered=2000, completed=10_000)
    assert found(trial).limited, "its core was idle nine tenths of the time"
    assert rate(trial) == pytest.approx(1000)
    add_other_program(trial, 5.0)
    assert rate(trial) == pytest.approx(1000)


def test_slow_cores_disturb_and_correct_nothing() -> None:
    trial = load_trial(offered=1000, completed=10_000)
    trial.samples += counter("core.work_count", 500, {"cpu": "1"})
    trial.samples += gauge("core.work_least", [6e-6], {"cpu": "1"})
    known = trial.samples
    same = replace(trial, samples=known + counter("core.work_time", 500 * 6.06e-6, {"cpu": "1"}))
    slow = replace(trial, samples=known + counter("core.work_time", 500 * 7.2e-6, {"cpu": "1"}))
    assert rate(same) == rate(slow) == pytest.approx(10_000)
    assert "slowed" in found(slow).disturbed and not found(same).disturbed


def test_only_the_slices_that_no_neighbour_slowed_count() -> None:
    """Of 10 s at 1000 connections/s, 3 s are slowed: there 150 us for each, and 100 us else."""
    trial = load_trial(offered=1000, completed=10_000)
    trial.samples = [s for s in trial.samples if s.metric != "task.time"]
    slow = [30 <= tenth < 60 for tenth in range(100)]
    task = {"cpu": "1", "process": "7", "thread": "7", "command": "nginx", "kind": "task"}
    # The kernel's part is 50 us throughout.
    trial.samples += tenths("task.time", [0.01 if each else 0.005 for each in slow], task)
    slow_slices(trial, slow)
    gate = found(trial)
    assert gate.figures["undisturbed"] == pytest.approx(7.0)
    assert rate(trial) == pytest.approx(10_000, rel=0.01)
    assert not gate.disturbed
    kinds = ("user", "system", "irq", "softirq")
    assert sum(gate.figures[f"server_cpu.{kind}"] for kind in kinds) == pytest.approx(100, 0.01)


def of_a_trial(counted_s: float | None, full_speed_us: float = 6.0) -> GateTrial:
    few = counted_s is not None and counted_s < 1.0
    return GateTrial(
        figures={} if counted_s is None else {"undisturbed": counted_s},
        disturbed=disturbance(None, None, 0.2 if few else 0.0),
        full_speed_us=full_speed_us,
    )


def test_the_busier_the_host_the_longer_the_next_trial() -> None:
    """A quarter of the latest four trials counts: 8 s hold 2 s of such time."""
    five = [5.0] * 4
    assert next_sustain([], []) == SUSTAIN_S
    assert next_sustain([of_a_trial(5.0)] * 4, five) == SUSTAIN_S
    assert next_sustain([of_a_trial(1.25)] * 4, five) == pytest.approx(8.0)
    assert (
        next_sustain([of_a_trial(5.0), *[of_a_trial(0.0)] * 4], [5.0, *five]) == LONGEST_SUSTAIN_S
    )
    # What seemed free of neighbours on a test bed that was slowed from end to end was not.
    slowed = [of_a_trial(5.0), *[of_a_trial(5.0, full_speed_us=7.0)] * 4]
    assert next_sustain(slowed, [5.0, *five]) == LONGEST_SUSTAIN_S
    # A server that did not keep up cannot be cut, and a longer trial would be of no more use.
    assert next_sustain([of_a_trial(None)] * 4, five) == SUSTAIN_S


def test_a_trial_of_which_nothing_was_counted_is_no_value() -> None:
    trial = load_trial(offered=1000, completed=10_000)
    trial.samples = [each for each in trial.samples if each.metric != "trex.counter"]
    with pytest.raises(StackcostError, match="no connection was counted in trial 1 of nginx"):
        found(trial)


def test_a_counted_trial_has_its_instructions_by_function_and_no_time() -> None:
    gate = gate_trial(Readings(counted.trial("nginx/kernel", 1, 1), (1,)), CONTEXT)
    functions = {"tcp_ack": 60_000, "tcp_v4_rcv": 30_000, "nginx": 20_000, "others": 0}
    wanted = {f"instructions_by_function.{name}": each for name, each in functions.items()}
    assert gate.figures.items() >= ({"instructions": 110_000} | wanted).items()
    assert not gate.disturbed and not gate.limited and "whole_cores_rate" not in gate.figures
