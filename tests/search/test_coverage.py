"""How often the printed interval of a search has the true ceiling in it.

The searches are of a simulated server, whose trials scatter, on a machine with a slow drift and two
neighbours. Each test prints what it found (pytest -rP); docs/method.md has these figures.
"""

import numpy
import pytest

from stackcost.analysis.ceiling.controller import search
from stackcost.analysis.ceiling.interval import COVERAGE
from stackcost.analysis.ceiling.settings import settings_for
from stackcost.contracts.load import CeilingKind
from tests.search.simulated import Simulated

SEARCHES = 100
# Two standard errors of what so many searches show of the stated share.
AT_LEAST = COVERAGE - 2 * (COVERAGE * (1 - COVERAGE) / SEARCHES) ** 0.5


def test_of_sessions_that_differ_the_interval_has_the_mean_as_often_as_the_sentence_says() -> None:
    settings, random = settings_for("connections", False), numpy.random.default_rng(3)
    inside = tries = 0
    for seed in range(SEARCHES):
        session = float(numpy.exp(random.normal(0, 0.04)))
        server = Simulated(
            7_400 * session, 0.02, drift=0.01, neighbours=2, repeats=settings.repeats, seed=seed
        )
        for goal, found in search(settings, server.measure).bounds.items():
            if found.interval:
                mean = server.truth(goal.loss_ratio) / session
                inside += found.interval.low <= mean <= found.interval.high
                tries += 1
    print(f"sessions differ by 4 %: the mean is in the interval {inside} of {tries} times")
    assert 0.3 <= inside / tries <= 0.65


@pytest.mark.parametrize(
    "noise",
    [
        pytest.param(0.01, marks=pytest.mark.long),
        0.02,
        pytest.param(0.04, marks=pytest.mark.long),
    ],
)
@pytest.mark.parametrize(
    ("of", "quick"),
    [
        ("connections", False),
        ("connections", True),
        pytest.param("flows", False, marks=pytest.mark.long),
    ],
)
def test_the_interval_has_the_true_ceiling_in_it_as_often_as_it_says(
    of: CeilingKind, quick: bool, noise: float
) -> None:
    settings = settings_for(of, quick)
    between, inside = {g: 0 for g in settings.goals}, {g: 0 for g in settings.goals}
    width = 0.0
    for seed in range(SEARCHES):
        server = Simulated(
            7_400, noise, drift=0.01, neighbours=2, of=of, repeats=settings.repeats, seed=seed
        )
        for goal, found in search(settings, server.measure).bounds.items():
            true = server.truth(goal.loss_ratio)
            if found.lower and found.upper:
                between[goal] += found.lower <= true <= found.upper
            if found.interval:
                inside[goal] += found.interval.low <= true <= found.interval.high
                width += (found.interval.high - found.interval.low) / true
    width /= len(settings.goals) * SEARCHES
    for goal in settings.goals:
        print(
            f"{of}{', quick' * quick}, trials scatter by {noise:.0%}: {goal.name} between the "
            f"bounds {between[goal]}, in the interval {inside[goal]} of {SEARCHES}; "
            f"on average it is {width:.1%} wide"
        )
        assert inside[goal] >= AT_LEAST * SEARCHES
