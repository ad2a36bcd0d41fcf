"""What is corrected for a host: its shared memory, and neighbours that slow the cores."""

import math
import random
from statistics import median

import pytest

from stackcost.analysis.host_noise import correct_for_host
from stackcost.analysis.series import Observation
from stackcost.analysis.thresholds import HIGHEST_SENSITIVITY


def trials(
    number: int,
    cost: float,
    usual: float = 250e-9,
    sensitivity: float = 0.8,
    seed: int = 1,
    noise: float = 0.02,
    slowed: float = 0.0,
) -> list[Observation]:
    """Of a server of whose connections a load that is twice as long makes each 2 ** sensitivity
    dearer.

    Calls take up to `slowed` longer than usual, and connections by a fifth more than that.
    """
    drawn = random.Random(seed)
    made = []
    for _ in range(number):
        load, call = usual * drawn.uniform(0.9, 1.3), 1 + slowed * drawn.random()
        least = cost * (load / 250e-9) ** sensitivity * drawn.gauss(1, noise)
        made.append(Observation(least, load, 2e-6 * call, least * call**1.2))
    return made


def whole(trials: list[Observation]) -> float:
    """The median cost of whole trials."""
    return median(trial.whole or 0.0 for trial in trials)


def test_what_a_server_feels_is_found_within_the_groups_and_taken_off() -> None:
    first, second = trials(14, 100), trials(14, 110, usual=300e-9, seed=2)
    (before,), (after,), part = correct_for_host([first], [second])
    assert part
    assert part.loads.sensitivity == pytest.approx(0.8, abs=0.15)
    assert part.loads.slower == pytest.approx(0.2, abs=0.1)
    assert median(after) / median(before) == pytest.approx(1.1, abs=0.03), "its own part stays"
    assert median(before) == pytest.approx(median(t.value for t in first)), "as tables have it"


def test_what_neighbours_of_the_cores_added_is_taken_off_and_the_server_s_own_part_stays() -> None:
    quiet, slowed = trials(20, 100, slowed=0.1), trials(20, 105, seed=2, slowed=0.5)
    (before,), (after,), part = correct_for_host([quiet], [slowed])
    assert (
        part and part.calls.sensitivity == pytest.approx(1.2, abs=0.1) and part.calls.slower > 0.1
    )
    assert median(after) / median(before) == pytest.approx(1.05, abs=0.02)
    seen = whole(slowed) / whole(quiet)
    assert seen > 1.15 and part.taken_off == pytest.approx(seen / 1.05 - 1, abs=0.05)
    assert 0 < part.unsure < 0.03


def test_of_a_rate_it_is_taken_off_the_other_way() -> None:
    quiet, slowed = trials(20, 100, slowed=0.1), trials(20, 105, seed=2, slowed=0.5)
    rates = [[t._replace(value=1 / t.value, whole=1 / (t.whole or 0.0)) for t in side]
             for side in (quiet, slowed)]  # fmt: skip
    costs, found = (
        correct_for_host([quiet], [slowed]),
        correct_for_host(*([s] for s in rates), is_rate=True),
    )
    assert found.part and costs.part
    assert found.part.calls.sensitivity == pytest.approx(costs.part.calls.sensitivity)
    assert found.second[0] == pytest.approx([1 / cost for cost in costs.second[0]], rel=0.01)


def test_a_trial_in_which_memory_stood_still_does_not_set_the_slope() -> None:
    first, second = trials(12, 100), trials(12, 100, seed=2)
    first[5] = first[5]._replace(load_time=20 * (first[5].load_time or 0.0))
    part = correct_for_host([first], [second]).part
    assert part and part.loads.sensitivity > 0.25, "0.03 with its loads as they were"


def test_what_memory_does_not_explain_is_left_alone() -> None:
    unmoved = trials(14, 100, sensitivity=0.0, noise=0.0)
    faster = trials(14, 100, sensitivity=-1.0)  # dearer with faster memory: by chance alone
    far = trials(14, 100, sensitivity=4.0)
    for group, wanted in ((unmoved, 0.0), (faster, 0.0), (far, HIGHEST_SENSITIVITY[0])):
        part = correct_for_host([group], [group]).part
        assert part and part.loads.sensitivity == pytest.approx(wanted, abs=1e-9)
        assert math.isclose(part.loads.slower, 0.0) and math.isclose(part.unsure, 0.0)


def test_free_slices_are_compared_where_whole_trials_cannot_be_corrected() -> None:
    before, now = trials(6, 100, slowed=0.5), trials(6, 110, slowed=0.5)
    assert correct_for_host([before], [now]).part
    few = correct_for_host([before[:3]], [now[:4]])
    assert few.part is None and few.first == [[trial.value for trial in before[:3]]]
    now[3] = now[3]._replace(load_time=None)
    part = correct_for_host([before], [now]).part
    assert part and part.loads.sensitivity == part.loads.slower == 0.0 and part.calls.sensitivity
    now[3] = now[3]._replace(load_time=250e-9, call_time=None)
    by_loads = correct_for_host([before], [now]).part
    assert by_loads and by_loads.calls.sensitivity == 0.0 and by_loads.loads.sensitivity
    now[3] = now[3]._replace(load_time=None)
    nothing = correct_for_host([before], [now])
    assert nothing.part is None and nothing.second == [[trial.value for trial in now]]


def test_over_several_loads_one_slope_is_found_and_each_stays_at_its_own_cost() -> None:
    first = [trials(4, cost, seed=at) for at, cost in enumerate((300, 150), start=1)]
    second = [trials(4, cost, usual=300e-9, seed=at) for at, cost in enumerate((300, 150), start=5)]
    _, (dear, cheap), part = correct_for_host(first, second)
    assert part and part.loads.sensitivity == pytest.approx(0.8, abs=0.2)
    assert median(dear) / median(cheap) == pytest.approx(2, rel=0.05)
