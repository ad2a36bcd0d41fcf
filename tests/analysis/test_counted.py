"""Counts become instructions per connection, apart from all that is timed."""

import pytest

from stackcost.analysis.figures import counted
from stackcost.analysis.readings import Readings
from stackcost.analysis.why.function_table import table
from stackcost.contracts.load import ConstantLoad
from stackcost.contracts.trial import Trial
from stackcost.contracts.window import Window
from stackcost.counting.counts import Count, Where, samples_of
from tests.analysis.trials import SUSTAIN

COUNTS = {
    Where("nginx", "", "kernel", "tcp_ack"): Count(600, 0),
    Where("nginx", "", "kernel", "unheard_of"): Count(200, 64),
    Where("napi/sc-server0", "", "kernel", "tcp_v4_rcv"): Count(100, 0),
    Where("nginx", "", "user", "nginx"): Count(100, 0),
    Where("data-0", "", "user", "astf-engine"): Count(5000, 0),
}


def trial(counts: dict[Where, Count] = COUNTS, completed: int = 10) -> Readings:
    made = Trial("nginx/kernel", 1, 1, ConstantLoad(offered_cps=500))
    made.load_of(ConstantLoad).client = {"tcps_closed": completed}
    made.phases["sustain"] = Window(SUSTAIN.start, SUSTAIN.end)
    made.samples = list(samples_of(counts, {"nginx", "napi/sc-server0"}, SUSTAIN))
    return Readings(made)


def test_instructions_are_the_servers_alone() -> None:
    assert counted.total(trial()) == 100.0


def test_without_a_connection_they_are_unknown() -> None:
    assert counted.total(trial(completed=0)) is None


def test_functions_and_categories_add_up() -> None:
    assert counted.by_function(trial())["tcp_ack"] == 60.0
    assert sum(counted.by_function(trial()).values()) == 100.0
    found = counted.by_category(trial())
    assert found["TCP"] == 70.0
    assert found["in no category"] == 20.0
    assert sum(found.values()) == 100.0


@pytest.mark.parametrize(
    ("function", "category"),
    [
        ("memset_orig", "copying and checksums"),  # of 6.12, where a processor lacks fast rep stosb
        ("__list_add_valid", "lists, trees, locks and clocks of all parts"),
        ("__kvmalloc_node_noprof", "skb and page allocation"),
        ("do_syscall_64", "system-call entry and exit"),
        ("finish_task_switch.isra.0", "scheduling and waking"),
        ("unheard_of", "in no category"),
    ],
)
def test_a_function_without_its_callers_has_a_category(function: str, category: str) -> None:
    where = Where("nginx", "", "kernel", function)
    assert counted.by_category(trial({where: Count(600, 0)})) == {category: 60.0, "user mode": 0}


def test_onload_is_told_apart_in_the_kernel_and_in_user_mode() -> None:
    counts = {
        Where("nginx", "", "kernel", "tcp_ack [onload]"): Count(600, 0),
        Where("nginx", "", "user", "libonload.so"): Count(300, 0),
        Where("nginx", "", "user", "nginx"): Count(100, 0),
    }
    assert counted.by_category(trial(counts)) == {
        "Onload in the kernel": 60.0,
        "Onload's library (user mode)": 30.0,
        "user mode": 10.0,
    }
    kinds = {row.function: row.category for row in counted.counts(trial(counts))}
    assert kinds["libonload.so"] == "Onload's library (user mode)"


def test_system_calls_are_of_a_connection_by_name() -> None:
    calls = Where("nginx", "", "kernel", "__x64_sys_writev")
    assert counted.system_calls(trial({calls: Count(600, 0, 20)})) == {"writev": 2.0}


def test_helpers_have_their_callers_category_in_a_stack() -> None:
    assert table().find("ip_rcv;nft_do_chain;memset_orig").category == table().category(
        "nft_do_chain"
    )
