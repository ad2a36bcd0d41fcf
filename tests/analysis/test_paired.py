"""Which trials of two systems are compared, and what is taken off from them."""

import pytest

from harness.analysis.figures import Figure
from harness.analysis.paired import Figures, paired
from harness.analysis.spread import spread

LOADS = (1000.0, 2000.0)


def side(costs: list[float], load_times: list[float | None], free_s: list[float | None]) -> Figures:
    """The same trials at each of `LOADS`, where they cost half as much at the second."""
    found = {}
    for at, load in enumerate(LOADS):
        figures = {
            "server_cpu_total": spread([cost / (at + 1) for cost in costs], "us"),
            "load_time": spread(load_times, "ns"),
            "undisturbed": spread(free_s, "s"),
            "closure": spread([1.0] * len(costs), "1"),
        }
        for name, values in figures.items():
            found[name, load] = Figure("nginx/kernel", name, load, values)
    return found


def test_a_cost_is_judged_over_all_loads_and_shown_at_each() -> None:
    one = side([100, 101, 102], [200, 200, 200], [3, 3, 3])
    found = [(p.pair.figure, p.pair.at, p.judged) for p in paired(one, one, "a: ")]
    assert found[:3] == [
        ("a: server_cpu_total", "2 loads", True),
        ("a: server_cpu_total", "1,000/s", False),
        ("a: server_cpu_total", "2,000/s", False),
    ]
    assert ("a: closure", "1,000/s", False) in found
    single = {key: figure for key, figure in one.items() if key[1] == 1000}
    assert [p.judged for p in paired(single, one)[:2]] == [True, False]


def test_trials_that_were_slowed_from_end_to_end_are_left_out_where_others_remain() -> None:
    a = side([100, 150, 101], [200, 200, 200], [3, 0.2, 3])
    b = side([110, 111, 112], [200, 200, 200], [3, 3, 3])
    both, first, _ = paired(a, b)[:3]
    assert (both.left_out, first.left_out) == (2, 1)
    assert first.pair.loads[0][0].values == [100, 101] and both.pair.loads[1][1].values[0] == 55
    none_free = side([100, 150, 101], [200, 200, 200], [0.1, 0.2, 0.3])
    assert paired(none_free, b)[0].left_out == 0
    unknown = side([100, 150, 101], [200, 200, 200], [None, 0.2, 3])
    assert paired(unknown, b)[0].left_out == 0


def test_what_slower_memory_added_is_taken_off_where_the_loads_of_all_trials_are_known() -> None:
    usual, slow = [200.0, 210, 220, 230], [260.0, 270, 280, 290]
    a = side([load / 2 for load in usual], list(usual), [3] * 4)
    b = side([load / 2 for load in slow], list(slow), [3] * 4)
    both = paired(a, b)[0]
    assert both.memory and both.memory.felt == pytest.approx(1.0)
    first, second = both.pair.loads[0]
    assert second.median == pytest.approx(first.median)
    blind = side([load / 2 for load in slow], [None, *slow[1:]], [3] * 4)
    found = paired(a, blind)[0]
    assert found.memory is None and found.pair.loads[0][1].median == pytest.approx(137.5)
