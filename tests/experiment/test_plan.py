from itertools import pairwise
from pathlib import Path

from harness.experiment.load_file import load_experiment
from harness.experiment.plan import plan, planned_seconds

COMPARE = Path(__file__).resolve().parents[2] / "experiments" / "compare.yaml"


def test_servers_take_turns_in_every_round_in_one_direction_and_the_other() -> None:
    turns = plan(load_experiment(COMPARE, quick=True))
    assert [(turn.round, turn.variant.name) for turn in turns] == [
        (1, "nginx/kernel"),
        (1, "astf-peer"),
        (2, "astf-peer"),
        (2, "nginx/kernel"),
    ]


def test_trials_are_numbered_in_the_order_they_run() -> None:
    turns = plan(load_experiment(COMPARE))
    numbers = [trial.number for turn in turns for trial in turn.trials]
    assert numbers[0] == 1 and all(b == a + 1 for a, b in pairwise(numbers))
    assert all(trial.load["round"] == turn.round for turn in turns for trial in turn.loads)


def test_quick_plans_about_two_minutes_and_the_default_about_ten() -> None:
    quick, full = load_experiment(COMPARE, quick=True), load_experiment(COMPARE)
    assert 90 < planned_seconds(plan(quick), quick) < 150
    assert 420 < planned_seconds(plan(full), full) < 720
