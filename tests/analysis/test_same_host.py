"""What is corrected for a host: its shared memory, and neighbours that slow the cores."""

import math
import random
from statistics import median

import pytest

from stackcost.analysis.same_host import MOST_FELT, Observed, host_part


def trials(
    number: int,
    cost: float,
    usual: float = 250e-9,
    felt: float = 0.8,
    seed: int = 1,
    noise: float = 0.02,
    slowed: float = 0.0,
) -> list[Observed]:
    """Of a server of whose connections a load that is twice as long makes each 2 ** felt dearer.

    Calls take up to `slowed` longer than usual, and connections by a fifth more than that.
    """
    drawn = random.Random(seed)
    made = []
    for _ in range(number):
        load, call = usual * drawn.uniform(0.9, 1.3), 1 + slowed * drawn.random()
        least = cost * (load / 250e-9) ** felt * drawn.gauss(1, noise)
        made.append(Observed(least * call**1.2, load, 2e-6 * call))
    return made


def corrected(groups: list[list[Observed]], factors: list[list[float]]) -> list[float]:
    """The median cost of each group."""
    return [
        median([trial.cost * factor for trial, factor in zip(group, of_group, strict=True)])
        for group, of_group in zip(groups, factors, strict=True)
    ]


def test_what_a_server_feels_is_found_within_the_groups_and_taken_off() -> None:
    first, second = trials(14, 100), trials(14, 110, usual=300e-9, seed=2)
    part = host_part([first], [second])
    assert part
    assert part.loads.felt == pytest.approx(0.8, abs=0.15)
    assert part.loads.slower == pytest.approx(0.2, abs=0.1)
    (before,), (after,) = map(corrected, ([first], [second]), part.factors)
    assert after / before == pytest.approx(1.1, abs=0.03)  # the server's own part stays


def test_what_neighbours_of_the_cores_added_is_taken_off_and_the_server_s_own_part_stays() -> None:
    quiet, slowed = trials(20, 100, slowed=0.1), trials(20, 105, seed=2, slowed=0.5)
    part = host_part([quiet], [slowed])
    assert part and part.calls.felt == pytest.approx(1.2, abs=0.1) and part.calls.slower > 0.1
    (before,), (after,) = map(corrected, ([quiet], [slowed]), part.factors)
    assert after / before == pytest.approx(1.05, abs=0.02)
    seen = median(trial.cost for trial in slowed) / median(trial.cost for trial in quiet)
    assert seen > 1.15 and part.taken_off == pytest.approx(seen / 1.05 - 1, abs=0.05)
    assert 0 < part.unsure < 0.03


def test_a_trial_in_which_memory_stood_still_does_not_set_the_slope() -> None:
    first, second = trials(12, 100), trials(12, 100, seed=2)
    first[5] = first[5]._replace(load=20 * (first[5].load or 0.0))
    part = host_part([first], [second])
    assert part and part.loads.felt > 0.25, "0.03 with its loads as they were"


def test_what_memory_does_not_explain_is_left_alone() -> None:
    unmoved = trials(14, 100, felt=0.0, noise=0.0)
    faster = trials(14, 100, felt=-1.0)  # dearer with faster memory: by chance alone
    far = trials(14, 100, felt=4.0)
    for group, wanted in ((unmoved, 0.0), (faster, 0.0), (far, MOST_FELT[0])):
        part = host_part([group], [group])
        assert part and part.loads.felt == pytest.approx(wanted, abs=1e-9)
        assert math.isclose(part.loads.slower, 0.0) and math.isclose(part.unsure, 0.0)


def test_what_was_not_read_of_all_trials_and_what_few_trials_say_is_not_corrected() -> None:
    before, now = trials(6, 100), trials(6, 110, slowed=0.2)
    assert host_part([before], [now])
    assert host_part([before[:3]], [now[:4]]) is None
    now[3] = now[3]._replace(load=None)
    part = host_part([before], [now])
    assert part and part.loads == (0.0, 0.0) and part.calls.felt
    now[3] = now[3]._replace(call=None)
    assert host_part([before], [now]) is None


def test_over_several_loads_one_slope_is_found_and_each_stays_at_its_own_cost() -> None:
    first = [trials(4, cost, seed=at) for at, cost in enumerate((300, 150), start=1)]
    second = [trials(4, cost, usual=300e-9, seed=at) for at, cost in enumerate((300, 150), start=5)]
    part = host_part(first, second)
    assert part and part.loads.felt == pytest.approx(0.8, abs=0.2)
    dear, cheap = corrected(second, part.factors[1])
    assert dear / cheap == pytest.approx(2, rel=0.05)
