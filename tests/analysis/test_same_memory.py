"""What is corrected for the memory that all cores of a host share."""

import math
import random
from statistics import median

import pytest

from harness.analysis.same_memory import MOST_FELT, memory_part

Costs = list[tuple[float, float | None]]


def trials(
    number: int,
    cost: float,
    usual: float = 250e-9,
    felt: float = 0.8,
    seed: int = 1,
    noise: float = 0.02,
) -> Costs:
    """Of a server of whose connections a load that is twice as long makes each 2 ** felt dearer."""
    drawn = random.Random(seed)
    made: Costs = []
    for _ in range(number):
        load = usual * drawn.uniform(0.9, 1.3)
        made.append((cost * (load / 250e-9) ** felt * drawn.gauss(1, noise), load))
    return made


def test_what_a_server_feels_is_found_within_the_groups_and_taken_off() -> None:
    first, second = trials(14, 100), trials(14, 110, usual=300e-9, seed=2)
    part = memory_part([first], [second])
    assert part
    assert part.felt == pytest.approx(0.8, abs=0.15) and part.slower == pytest.approx(0.2, abs=0.1)
    before, after = (
        median([cost * factor for (cost, _), factor in zip(group, factors, strict=True)])
        for group, (factors,) in zip((first, second), part.factors, strict=True)
    )
    assert after / before == pytest.approx(1.1, abs=0.03)  # the server's own part stays


def test_what_memory_does_not_explain_is_left_alone() -> None:
    unmoved = trials(14, 100, felt=0.0, noise=0.0)
    faster = trials(14, 100, felt=-1.0)  # dearer with faster memory: by chance alone
    far = trials(14, 100, felt=4.0)
    for group, wanted in ((unmoved, 0.0), (faster, 0.0), (far, MOST_FELT)):
        part = memory_part([group], [group])
        assert part and part.felt == pytest.approx(wanted, abs=1e-9)
        assert math.isclose(part.slower, 0.0) and math.isclose(part.unsure, 0.0)


def test_without_readings_of_memory_or_with_few_trials_nothing_is_corrected() -> None:
    before, now = trials(6, 100), trials(6, 110)
    assert memory_part([before], [now])
    assert memory_part([before[:3]], [now[:4]]) is None
    now[3] = (now[3][0], None)
    assert memory_part([before], [now]) is None


def test_over_several_loads_one_slope_is_found_and_each_stays_at_its_own_cost() -> None:
    first = [trials(4, cost, seed=at) for at, cost in enumerate((300, 150), start=1)]
    second = [trials(4, cost, usual=300e-9, seed=at) for at, cost in enumerate((300, 150), start=5)]
    part = memory_part(first, second)
    assert part and part.felt == pytest.approx(0.8, abs=0.2)
    dear, cheap = (
        median([cost * factor for (cost, _), factor in zip(group, factors, strict=True)])
        for group, factors in zip(second, part.factors[1], strict=True)
    )
    assert dear / cheap == pytest.approx(2, rel=0.05)
