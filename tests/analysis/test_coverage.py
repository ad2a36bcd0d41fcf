"""Whether intervals hold the truth as often as they say, found by drawing them again and again."""

from collections.abc import Callable

import numpy as np
import pytest

from stackcost.analysis.comparing import ranks
from stackcost.analysis.spread import median_interval

DRAWS = 1500
Noise = Callable[[np.random.Generator, int], np.ndarray]


def normal(random: np.random.Generator, number: int) -> np.ndarray:
    return random.normal(0, 0.02, number)


def heavy_tailed(random: np.random.Generator, number: int) -> np.ndarray:
    """Student's t of two degrees of freedom, whose variance is infinite."""
    return np.asarray(0.02 * random.standard_t(2, number))


NOISES = pytest.mark.parametrize("noise", [normal, heavy_tailed])


def reached(
    draw: Callable[[], tuple[float | None, float | None, float | None]], truth: float
) -> None:
    """Over many draws of low, high, coverage: as often as stated, less three standard errors."""
    held, stated = 0, set()
    for _ in range(DRAWS):
        low, high, coverage = draw()
        assert low is not None and high is not None and coverage is not None
        held += low <= truth <= high
        stated.add(coverage)
    (coverage,) = stated
    least = coverage - 3 * (coverage * (1 - coverage) / DRAWS) ** 0.5
    assert held / DRAWS >= least, f"states {coverage:.1%}, holds it in {held / DRAWS:.1%}"


@pytest.mark.parametrize(
    ("rounds", "coverage"),
    [(2, 0.5), (3, 0.75), (4, 0.875), (6, 0.96875), (8, 0.992), (12, 0.961), (20, 0.959)],
)
@NOISES
def test_a_spread_states_the_coverage_that_its_rounds_have(
    rounds: int, coverage: float, noise: Noise
) -> None:
    random = np.random.default_rng(rounds)
    found = median_interval(list(range(rounds)))
    assert found is not None and found.coverage == pytest.approx(coverage, abs=0.001)

    def of_a_median() -> tuple[float | None, float | None, float | None]:
        return median_interval(np.exp(noise(random, rounds)).tolist()) or (None, None, None)

    reached(of_a_median, 1.0)


@pytest.mark.parametrize("trials", [(2, 2), (3, 4), (5, 5), (20, 6), (12, 12)])
@NOISES
def test_so_does_a_comparison_of_sides(trials: tuple[int, int], noise: Noise) -> None:
    random = np.random.default_rng(7)

    def draw() -> tuple[float | None, float | None, float | None]:
        a, b = (np.exp(noise(random, number)) for number in trials)
        return ranks.effect_of_sides(a.tolist(), (1.05 * b).tolist()).interval or (None, None, None)

    reached(draw, 1.05)


@pytest.mark.parametrize("pairs", [2, 4, 8, 20])
@NOISES
def test_and_one_of_pairs(pairs: int, noise: Noise) -> None:
    random = np.random.default_rng(9)

    def draw() -> tuple[float | None, float | None, float | None]:
        hour = random.lognormal(0, 0.1, pairs)
        a, b = hour * np.exp(noise(random, pairs)), 1.05 * hour * np.exp(noise(random, pairs))
        return ranks.effect_of_pairs(a.tolist(), b.tolist()).interval or (None, None, None)

    reached(draw, 1.05)
