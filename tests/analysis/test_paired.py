"""Which trials of two systems are compared, and what is taken off from them."""

import pytest

from stackcost.analysis.figures import Figure
from stackcost.analysis.paired import LEAST_PAIRS, Measured, Paired, paired
from stackcost.analysis.spread import spread
from stackcost.analysis.summary import TrialRow

LOADS = (1000.0, 2000.0)


def side(
    costs: list[float],
    load_times: list[float] | None = None,
    call_times: list[float] | None = None,
    loads: tuple[float, ...] = LOADS,
) -> Measured:
    """A turn for each cost; at the second load connections cost half of it."""
    rows, figures = [], {}
    for at, load in enumerate(loads):
        for number, cost in enumerate(costs):
            rows.append(
                TrialRow(
                    number=len(rows),
                    round=number,
                    server="nginx/kernel",
                    part="load",
                    offered_cps=load,
                    open_flows=None,
                    completed=1,
                    failed=0,
                    retransmitted=0,
                    server_cpu_total=cost / (at + 1),
                    whole_cpu_total=cost / (at + 1) * (call_times[number] if call_times else 1),
                    call_time=call_times[number] if call_times else None,
                    load_time=load_times[number] if load_times else None,
                    flags=[],
                    checks=[],
                )
            )
        for name, value in (("server_cpu_total", 100.0), ("closure", 1.0)):
            values = spread([value] * len(costs), "")
            figures[name, load] = Figure("nginx/kernel", name, load, values)
    return Measured(figures, rows)  # type: ignore[arg-type]


def cost(a: Measured, b: Measured) -> Paired:
    (found,) = (each for each in paired(a, b) if each.judged)
    return found


def test_a_cost_is_judged_by_turns_over_all_loads_and_shown_at_each() -> None:
    one = side([100, 101, 102])
    found = [(p.pair.figure, p.pair.at, p.judged) for p in paired(one, one, "a: ")]
    assert found == [
        ("a: server_cpu_total", "every load, by turns", True),
        ("a: server_cpu_total", "1,000/s", False),
        ("a: closure", "1,000/s", False),
        ("a: server_cpu_total", "2,000/s", False),
        ("a: closure", "2,000/s", False),
    ]
    pair = cost(one, side([110, 111, 112])).pair
    assert pair.a.values == pytest.approx([100 / 101, 1, 102 / 101])  # trials of a turn are one
    assert pair.b.values == pytest.approx([110 / 101, 111 / 101, 112 / 101])


def test_turns_of_one_run_are_compared_in_pairs_where_enough_rounds_had_both() -> None:
    costs = [100.0 + number for number in range(LEAST_PAIRS + 1)]
    a, b = side(costs), side([2 * cost for cost in costs])
    a = a._replace(trials=[trial for trial in a.trials if trial.round != 3])
    (found,) = (each for each in paired(a, b, same_run=True) if each.judged)
    assert found.pair.matched and found.pair.at == "every load, by pairs of turns"
    assert found.left_out == 2, "the other turn of the pair that lacks one, at both loads"
    ratios = [y / x for x, y in zip(found.pair.a.values, found.pair.b.values, strict=True)]
    assert ratios == pytest.approx([2] * LEAST_PAIRS)
    (found,) = (each for each in paired(a, side(costs[2:]), same_run=True) if each.judged)
    assert not found.pair.matched and not cost(a, b).pair.matched


def test_at_a_single_load_it_is_the_cost_itself() -> None:
    pair = cost(side([100, 101]), side([110, 111], loads=LOADS[:1])).pair
    assert pair.at == "1,000/s, by turns" and pair.b.values == pytest.approx([110, 111])


def test_what_neighbours_added_to_whole_trials_is_taken_off() -> None:
    calls = [1.0, 1.1, 1.2, 1.3]
    a, b = side([100] * 4, call_times=calls), side([110] * 4, call_times=calls[::-1])
    found = cost(a, b)
    assert found.host and found.host.calls.felt == pytest.approx(1)
    assert found.pair.a.values == pytest.approx([1] * 4)
    assert found.pair.b.values == pytest.approx([1.1] * 4)


def test_with_too_few_trials_to_know_that_costs_are_of_what_was_undisturbed() -> None:
    found = cost(side([100, 101], call_times=[1.1, 1.2]), side([110, 111], call_times=[1.2, 1.1]))
    assert found.host is None
    assert found.pair.b.values == pytest.approx([110 / 100.5, 111 / 100.5], rel=0.001)


def test_a_turn_that_lacks_a_load_is_no_cheaper_for_that() -> None:
    whole, other = side([100, 100, 100]), side([100, 100, 100])
    lacking = whole._replace(trials=whole.trials[1:])  # the dearer load of the first turn
    assert cost(lacking, other).pair.a.values == pytest.approx([1, 1, 1])


def test_what_slower_memory_added_is_taken_off_where_the_loads_of_all_trials_are_known() -> None:
    usual, slow = [200.0, 210, 220, 230], [260.0, 270, 280, 290]
    a, b = (side([load / 2 for load in loads], loads) for loads in (usual, slow))
    found = cost(a, b)
    assert found.host and found.host.loads.felt == pytest.approx(1.0)
    assert found.pair.b.values == pytest.approx([1, 1, 1, 1])
    blind = side([load / 2 for load in slow])
    assert cost(a, blind).host is None
    assert cost(a, blind).pair.b.median == pytest.approx(275 / 215, rel=0.01)
