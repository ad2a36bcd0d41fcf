"""A peer that is a TRex, which has none of astf-engine's own RPC methods."""

import io
from collections.abc import Callable

import pytest
from rich.console import Console

from stackcost.analysis.readings import Readings
from stackcost.analysis.summarise import summarise
from stackcost.analysis.summary import Summary
from stackcost.analysis.trial.flags import disturbances
from stackcost.collect.engine import engine_time
from stackcost.contracts.metrics import PROCESS_PSS
from stackcost.contracts.trial import Trial
from stackcost.report.terminal import print_answer
from tests.analysis.runs import CONTEXT, MEMORY
from tests.analysis.trials import START, counter, hold_trial, load_trial
from tests.collect.trex import TrexStandIn

PEER = {"irq": 11.1, "softirq": 30.6}  # what the kernel does for it; its own threads poll
LOW_END = "TRex runs control and data on one core"


def peer_trial(number: int, round_number: int, offered: float, shares_core: bool) -> Trial:
    """Its threads take what is left of the core; its own account is as the collector makes it.

    TRex says that its data core did work in 12 % of the looks at it.
    """
    trial = load_trial("astf-peer", number, round_number, offered, PEER, int(offered * 10))
    labels = {"cpu": "1", "process": "7", "thread": "8", "command": "_t-rex-64", "kind": "task"}
    trial.samples += counter("task.time", 8.0, labels)
    now = iter([START - 1 + 0.5 * step for step in range(30)])
    collector = engine_time(
        "peer", TrexStandIn(busy=[12]), () if shares_core else (1,), lambda: next(now)
    )
    for _ in range(26):
        trial.samples += collector.read()
    return trial


def run_of(make: Callable[[int, int, float], Trial], rounds: int = 2) -> Summary:
    trials = []
    for number in range(1, rounds + 1):
        for offered in (1000.0, 2000.0):
            cost = {"user": 10.0, "system": 40.0, "irq": 1.0, "softirq": 49.0}
            at = len(trials) + 1
            trials.append(load_trial("nginx/kernel", at, number, offered, cost, int(offered * 10)))
            trials.append(make(at + 1, number, offered))
    return summarise(trials, CONTEXT)


def told(summary: Summary) -> str:
    written = io.StringIO()
    print_answer(summary, Console(file=written, width=1000), long=True)
    return written.getvalue()


def test_on_a_core_of_its_own_its_cost_is_its_own_account() -> None:
    summary = run_of(lambda *at: peer_trial(*at, shares_core=False))
    (level, _) = summary.servers[1].levels
    assert list(level.kinds("server_cpu")) == ["busy"], (
        "the kernel's irq and softirq are the wire's"
    )
    own, beside = 0.12 * 10 / 10_000 * 1e6, 30.6
    assert level["server_cpu_total"].median == pytest.approx(own + beside), "with softirqs"
    (factor, _) = summary.factors
    assert factor.at == "2,000 connections/s"
    assert factor.ratio.median == pytest.approx(100 / (60 + 30.6))


def test_a_cost_without_its_largest_part_is_none_and_says_why() -> None:
    summary = run_of(lambda *at: peer_trial(*at, shares_core=True))
    for level in summary.servers[1].levels:
        assert level["server_cpu_total"].median is None
        assert LOW_END in level["server_cpu_total"].reason
    (factor, _) = summary.factors
    assert factor.ratio.median is None
    assert factor.ratio.reason.startswith("the cost of astf-peer is not known: ")
    assert LOW_END in factor.ratio.reason
    assert f"cpu factor nginx/kernel : astf-peer: n/a: {factor.ratio.reason}" in told(summary)


def test_its_threads_are_no_other_programs() -> None:
    trial = peer_trial(1, 1, 1000.0, shares_core=True)
    assert disturbances(Readings(trial, (1,))) == []


def test_a_process_that_was_not_read_leaves_no_total_of_the_kernels_server_either() -> None:
    trial = load_trial()
    trial.samples = [s for s in trial.samples if s.metric not in ("process.cpu_time", "task.time")]
    level = summarise([trial], CONTEXT).servers[0].levels[0]
    assert level["server_cpu_total"].median is None
    assert level["server_cpu_total"].reason == "user and system time was not read"


def holds(per_flow: dict[str, float], server: str, trex: bool) -> list[Trial]:
    trials = [
        hold_trial(count, per_flow, server, at) for at, count in enumerate((0, 2000, 5000), 1)
    ]
    for trial in trials if trex else ():
        trial.samples += engine_time("peer", TrexStandIn(busy=[12]), ()).read()
    return trials


def test_a_flow_of_trex_lies_on_the_heap_of_its_process() -> None:
    noise = {"slab.bytes": 40.0, "sockstat.memory": -50.0}
    trials = holds(noise | {"process.pss": 1800.0}, "astf-peer", trex=True)
    memory = summarise(trials, CONTEXT).servers[1].memory
    assert memory is not None and memory.counted == ["process"]
    assert memory["memory.total"].median == pytest.approx(1800)


def test_a_total_below_zero_is_noise_and_never_printed() -> None:
    trials = holds({"process.pss": -3.07}, "astf-peer", trex=True)
    trials += holds(MEMORY["nginx/kernel"], "nginx/kernel", trex=False)
    summary = summarise(trials, CONTEXT)
    memory = summary.servers[1].memory
    assert memory is not None and memory["memory.total"].median is None
    assert (
        memory["memory.total"].reason
        == "the sum of the slopes is negative: this is noise, not memory of flows"
    )
    assert summary.factors[1].ratio.median is None
    assert memory["memory.total"].reason in summary.factors[1].ratio.reason
    assert "-3.07" not in told(summary).partition("total")[2].partition("\n")[0]


def test_memory_without_a_part_that_could_not_be_read_has_no_total() -> None:
    trials = holds(MEMORY["nginx/kernel"], "nginx/kernel", trex=False)
    for trial in trials:
        trial.samples = [s for s in trial.samples if s.metric != "process.pss"]
        trial.samples.append(PROCESS_PSS.unknown(START, "no permission", role="worker-0"))
    memory = summarise(trials, CONTEXT).servers[0].memory
    assert memory is not None and memory["memory.total"].median is None
    assert memory["memory.total"].reason == "process: no permission"


def test_a_table_of_nothing_but_unknown_is_one_sentence() -> None:
    said = told(run_of(lambda *at: peer_trial(*at, shares_core=False)))
    assert (
        "Latency from the intended start, us: unknown, because this generator does not report "
        "latency from the intended start"
    ) in said
    assert "p99.9" not in said and "first_byte" not in said
