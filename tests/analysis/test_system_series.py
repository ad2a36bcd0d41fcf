"""Which trials of two systems are compared, and what is taken off from them."""

import pytest

from stackcost.analysis.comparison import Comparison, compare_all
from stackcost.analysis.figures import Figure
from stackcost.analysis.spread import spread
from stackcost.analysis.summary import TrialRow
from stackcost.analysis.system_series import SystemFigures, questions

LOADS = (1000.0, 2000.0)


def side(
    costs: list[float],
    load_times: list[float] | None = None,
    call_times: list[float] | None = None,
    loads: tuple[float, ...] = LOADS,
) -> SystemFigures:
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
    return SystemFigures(figures, rows)  # type: ignore[arg-type]


def cost(a: SystemFigures, b: SystemFigures, same_run: bool = False) -> Comparison:
    (found,) = (each for each in questions(a, b, same_run=same_run) if each.judged)
    return compare_all([found])[0]


def test_a_cost_is_judged_by_turns_over_all_loads_and_shown_at_each() -> None:
    one = side([100, 101, 102])
    found = [(each.figure, each.at, each.judged) for each in questions(one, one, "a: ")]
    assert found == [
        ("a: server_cpu_total", "every load, by turns", True),
        ("a: server_cpu_total", "1,000/s", False),
        ("a: closure", "1,000/s", False),
        ("a: server_cpu_total", "2,000/s", False),
        ("a: closure", "2,000/s", False),
    ]
    found = cost(one, side([110, 111, 112]))
    assert found.a.values == pytest.approx([100 / 101, 1, 102 / 101])  # trials of a turn are one
    assert found.b.values == pytest.approx([110 / 101, 111 / 101, 112 / 101])


def test_turns_of_one_run_are_compared_in_pairs() -> None:
    costs = [100.0 + number for number in range(9)]
    a, b = side(costs), side([2 * cost for cost in costs])
    a = a._replace(trials=[trial for trial in a.trials if trial.round != 3])
    found = cost(a, b, same_run=True)
    assert found.paired and found.at == "every load, by pairs of turns"
    assert found.set_aside == ["2 trials left out: the other trial of the pair is missing"]
    assert found.ratios.values == pytest.approx([2] * 8)
    assert not cost(a, b).paired


def test_other_figures_of_one_run_are_paired_where_their_rounds_are_known() -> None:
    """Bytes per flow grew over the hour by more than the two differ."""
    memory = [
        SystemFigures({("memory.total", None): Figure("", "memory.total", None, values)}, [])
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
    assert [each.figure for each in questions(one, other)] == ["server_cpu_total", "closure"]


def test_what_neighbours_added_to_whole_trials_is_taken_off() -> None:
    calls = [1.0, 1.1, 1.2, 1.3]
    found = cost(side([100] * 4, call_times=calls), side([110] * 4, call_times=calls[::-1]))
    assert found.host and found.host.calls.sensitivity == pytest.approx(1)
    assert found.a.values == pytest.approx([1] * 4)
    assert found.b.values == pytest.approx([1.1] * 4)


def test_with_too_few_trials_to_know_that_costs_are_of_what_was_undisturbed() -> None:
    found = cost(side([100, 101], call_times=[1.1, 1.2]), side([110, 111], call_times=[1.2, 1.1]))
    assert found.host is None
    assert found.b.values == pytest.approx([110 / 100.5, 111 / 100.5], rel=0.001)


def test_whole_trials_are_compared_only_where_all_of_them_can_be_corrected() -> None:
    """System calls were not timed in one trial: all costs are those of the free slices."""
    calls = [1.0, 1.1, 1.2, 1.3]
    a, b = side([100] * 4, call_times=calls), side([110] * 4, call_times=calls)
    unread = a.trials[0].model_copy(update={"call_time": None})
    found = cost(a._replace(trials=[unread, *a.trials[1:]]), b)
    assert found.host is None
    assert found.a.values == pytest.approx([1] * 4) and found.b.values == pytest.approx([1.1] * 4)


def test_two_kinds_of_stack_are_compared_by_what_was_undisturbed() -> None:
    """Calls take longer, which the kernel's stack feels and the peer does not: on that host the
    kernel's stack costs 11.35 times as much.
    """
    calls = [1.0 + 0.03 * n for n in range(10)]
    kernel, peer = side([100.0] * 10, call_times=calls), side([10.0] * 10, call_times=calls)
    flat = [t.model_copy(update={"whole_cpu_total": t.server_cpu_total}) for t in peer.trials]
    peer = peer._replace(trials=flat, speaks_frames=True)
    found = cost(peer, kernel, same_run=True)
    assert found.host is None and found.ratio == pytest.approx(10)


def test_a_turn_that_lacks_a_load_is_no_cheaper_for_that() -> None:
    whole, other = side([100, 100, 100]), side([100, 100, 100])
    lacking = whole._replace(trials=whole.trials[1:])  # the dearer load of the first turn
    assert cost(lacking, other).a.values == pytest.approx([1, 1, 1])


def test_what_slower_memory_added_is_taken_off_where_the_loads_of_all_trials_are_known() -> None:
    usual, slow = [200.0, 210, 220, 230], [260.0, 270, 280, 290]
    a, b = (side([load / 2 for load in loads], loads) for loads in (usual, slow))
    found = cost(a, b)
    assert found.host and found.host.loads.sensitivity == pytest.approx(1.0)
    assert found.b.values == pytest.approx([1, 1, 1, 1])
    blind = side([load / 2 for load in slow])
    assert cost(a, blind).host is None
    assert cost(a, blind).b.median == pytest.approx(275 / 215, rel=0.01)
