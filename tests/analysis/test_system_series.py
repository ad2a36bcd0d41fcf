"""Which trials of two systems are compared, and what is taken off from them."""

import pytest

from stackcost.analysis.comparing.between_runs import ASSUMED
from stackcost.analysis.comparing.comparison import Comparison, compare_all
from stackcost.analysis.comparing.system_series import SystemFigures, questions, together
from stackcost.analysis.head import SystemFigure
from stackcost.analysis.spread import spread

LOADS = (1000.0, 2000.0)


def side(
    costs: list[float],
    loads: tuple[float, ...] = LOADS,
) -> SystemFigures:
    """A turn for each cost; at the second load connections cost half of it."""
    figures = {}
    for at, load in enumerate(loads):
        values = [cost / (at + 1) for cost in costs]
        for name, every in (("server_cpu_total", values), ("accounted_share", [1.0] * len(costs))):
            found = spread(every, "", rounds=range(len(costs)))
            figures[name, load] = SystemFigure("nginx/kernel", name, load, found)
    return SystemFigures(figures)  # type: ignore[arg-type]


def without(side: SystemFigures, loads: tuple[float, ...], left_out: int) -> SystemFigures:
    """The same without the costs of a round at these loads."""
    figures = dict(side.figures)
    for load in loads:
        cost = figures["server_cpu_total", load]
        kept = {at: each for at, each in cost.spread.by_round() if at != left_out}
        found = spread(list(kept.values()), "", rounds=list(kept))
        figures["server_cpu_total", load] = cost._replace(spread=found)
    return side._replace(figures=figures)


def cost(a: SystemFigures, b: SystemFigures, same_run: bool = False) -> Comparison:
    (found,) = (each for each in questions(a, b, same_run=same_run) if each.judged)
    return compare_all([found])[0]


def test_a_cost_is_judged_by_turns_over_all_loads_and_shown_at_each() -> None:
    one = side([100, 101, 102])
    found = [(each.figure, each.at, each.judged) for each in questions(one, one, "a: ")]
    assert found == [
        ("a: server_cpu_total", "every load, by turns", True),
        ("a: server_cpu_total", "1,000/s", False),
        ("a: accounted_share", "1,000/s", False),
        ("a: server_cpu_total", "2,000/s", False),
        ("a: accounted_share", "2,000/s", False),
    ]
    judged = cost(one, side([110, 111, 112]))
    assert judged.a.values == pytest.approx([100 / 101, 1, 102 / 101])  # trials of a turn are one
    assert judged.b.values == pytest.approx([110 / 101, 111 / 101, 112 / 101])


def test_turns_of_one_run_are_compared_in_pairs() -> None:
    costs = [100.0 + number for number in range(9)]
    a, b = side(costs), side([2 * cost for cost in costs])
    found = cost(without(a, LOADS, 3), b, same_run=True)
    assert found.paired and found.at == "every load, by pairs of turns"
    assert found.set_aside == ["2 trials left out: the other trial of the pair is missing"]
    assert found.ratios.values == pytest.approx([2] * 8)
    assert not cost(a, b).paired


def test_several_runs_are_one_side_and_a_run_is_one_value() -> None:
    a = together([side([100.0, 101.0, 102.0]), side([100.0, 101.0, 102.0]), side([90.0] * 3)])
    b = together([side([100.0, 104.0, 101.0])] * 3)
    (asked,) = (each for each in questions(a, b) if each.judged)
    assert asked.design.between is not None
    assert asked.design.between.runs == (3, 3) and asked.design.between.freedom == 4
    assert asked.design.between.deviation == pytest.approx(0.047, abs=0.001)
    assert len(asked.a.rounds) == 9, "every turn is compared"
    assert "by the 3 and 3 runs" in asked.design.between.words
    (two,) = (
        q for q in questions(together([side([1.0])] * 2), together([side([1.0])])) if q.judged
    )
    assert two.design.between == ASSUMED._replace(runs=(2, 1)), "too few to know it"


def test_other_figures_of_one_run_are_paired_where_their_rounds_are_known() -> None:
    """Bytes per flow grew over the hour by more than the two differ."""
    memory = [
        SystemFigures({("memory.total", None): SystemFigure("", "memory.total", None, values)})
        for values in (
            spread([above * (1000 + 100 * n) for n in range(9)], "B", rounds=list(range(9)))
            for above in (1.0, 1.01)
        )
    ]
    found = cost(*memory, same_run=True)
    assert found.verdict == "dearer" and found.ratio == pytest.approx(1.01)
    assert cost(*memory).verdict == "no difference shown"


def test_a_load_past_the_ceiling_is_in_no_judgement() -> None:
    a, b = side([100.0] * 6), side([110.0] * 6)
    past = b._replace(past_ceiling={("", 2000.0)})
    assert cost(a, past).at == "1,000/s, by turns"
    nothing = cost(a, past._replace(past_ceiling={("", load) for load in LOADS}))
    assert nothing.verdict == "cannot tell"
    assert nothing.reason == "every common load was above the ceiling"


def test_at_a_single_load_it_is_the_cost_itself() -> None:
    one, other = side([100, 101], loads=LOADS[:1]), side([110, 111], loads=LOADS[:1])
    found = cost(one, other)
    assert found.at == "1,000/s, by turns" and found.b.values == pytest.approx([110, 111])
    assert [each.figure for each in questions(one, other)] == [
        "server_cpu_total",
        "accounted_share",
    ]


def test_a_system_that_slows_what_tells_the_hosts_speed_is_no_cheaper_for_that() -> None:
    """Known calls and loads take 8 % longer beside it, because it walks through the caches."""
    costs = [100.0, 101, 102, 103] * 3
    slower = {"system_call_time": 630.0, "memory_read_time": 270.0}
    quick = {"system_call_time": 583.0, "memory_read_time": 250.0}
    a, b = (
        side(costs)._replace(
            figures=side(costs).figures
            | {
                (name, load): SystemFigure("", name, load, spread([value] * len(costs), "ns"))
                for name, value in told.items()
                for load in LOADS
            }
        )
        for told in (quick, slower)
    )
    found = cost(a, b, same_run=True)
    assert found.verdict == "no difference shown" and found.ratio == pytest.approx(1.0)


def test_a_turn_that_lacks_a_load_is_no_cheaper_for_that() -> None:
    whole, other = side([100, 100, 100]), side([100, 100, 100])
    lacking = without(whole, LOADS[:1], 0)  # the dearer load of the first turn
    assert cost(lacking, other).a.values == pytest.approx([1, 1, 1])
