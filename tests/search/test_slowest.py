"""What the slowest of some systems holds, by the shortest form of a search; no test bed."""

from collections.abc import Generator

import pytest

from stackcost.analysis.ceiling.controller import TrialLoss, search
from stackcost.experiment.matrix import variants
from stackcost.experiment.read_file import read_experiment
from stackcost.files import EXPERIMENTS
from stackcost.runs.slowest import (
    SHORTEST,
    TRIES,
    Held,
    as_long_as,
    checked,
    expected_seconds,
    highest_held_load,
    narrowed,
)
from tests.search.simulated import Simulated


@pytest.mark.parametrize("ceiling", [700.0, 4_300.0, 21_000.0])
def test_a_ceiling_is_found_within_a_tenth_in_a_dozen_trials(ceiling: float) -> None:
    system = Simulated(ceiling)
    held = highest_held_load(SHORTEST, search(SHORTEST, system.measure))
    assert held is not None and 0.9 * ceiling <= held <= 1.006 * ceiling
    assert len(system.trials) <= 12
    assert {trial.load.duration_s for trial in system.trials} == {1.0}


class TiresAfterASecond(Simulated):
    """Holds 15,000/s for a second, and 9,000/s for longer: a queue hides the difference."""

    def measure(self, load: float, seconds: float) -> TrialLoss:
        self.ceiling = 15_000.0 if seconds <= 1.0 else 9_000.0
        return super().measure(load, seconds)


def test_a_share_is_of_what_trials_of_the_runs_length_hold() -> None:
    short, long = SHORTEST, as_long_as(4.0)
    overshot = highest_held_load(short, search(short, TiresAfterASecond(0.0).measure))
    held = highest_held_load(long, search(long, TiresAfterASecond(0.0).measure))
    assert overshot and overshot > 13_000
    assert held and 0.85 * 9_000 <= held <= 1.006 * 9_000
    assert as_long_as(0.5) == SHORTEST


@pytest.mark.parametrize(
    ("holds_up_to", "expected"),
    [
        (9_000.0, Held(8_000.0)),
        (5_500.0, Held(7_200.0, (6_000.0,))),
        (0.0, Held(8_000.0 * 0.9**TRIES, (6_000.0, 5_400.0, 4_900.0, 4_400.0))),
    ],
)
def test_the_highest_load_of_a_run_is_tried_and_lowered_until_it_is_held(
    holds_up_to: float, expected: Held
) -> None:
    """After a search a server may hold less than the search found, as when a cache has filled."""
    tried = list[float]()

    def holds(load: float) -> Generator[float, None, bool]:
        tried.append(load)
        yield load
        return load <= holds_up_to

    steps = checked(8_000.0, lambda ceiling: float(f"{0.75 * ceiling:.2g}"), holds)
    with pytest.raises(StopIteration) as ended:
        while True:
            next(steps)
    found = ended.value.value
    assert found.not_held == expected.not_held
    assert found.ceiling == pytest.approx(expected.ceiling)
    assert len(tried) <= TRIES


def test_the_next_system_is_asked_for_no_more_than_the_slowest_so_far_holds() -> None:
    faster = Simulated(50_000.0)
    settings = narrowed(SHORTEST, {"slow": Held(4_000.0), "slower": Held(3_000.0)})
    assert highest_held_load(settings, search(settings, faster.measure)) == 3_000
    assert len(faster.trials) <= 2, "one look is enough"
    slower = Simulated(2_000.0)
    held = highest_held_load(settings, search(settings, slower.measure))
    assert held is not None and 1_800 <= held <= 2_010


def test_it_takes_a_minute_for_the_first_system_and_half_for_the_next() -> None:
    systems = variants(read_experiment(EXPERIMENTS / "compare.yaml", quick=True))
    first_s, next_s = expected_seconds(systems)
    assert first_s < 60 and next_s < 30
