import pytest

from stackcost.analysis.figures.registry import definitions
from stackcost.analysis.summarise import summarise
from stackcost.analysis.summary import Summary
from stackcost.contracts.trial import Trial
from stackcost.report.peer_parts import peer_sentences
from stackcost.report.short_tables import short_cost_table, short_factor_table
from stackcost.report.tables import cost_table, factor_table
from stackcost.report.words import number
from tests.analysis.runs import CONTEXT, compared, context_with
from tests.analysis.trials import counter


def test_factors_are_the_ratio_of_the_two_servers() -> None:
    cpu, memory = summarise(compared(), CONTEXT).factors
    assert (cpu.name, cpu.baseline, cpu.against) == ("cpu", "nginx/kernel", "astf-peer")
    assert cpu.ratio.median == pytest.approx(10, rel=0.02)
    assert len(cpu.ratio.values) == 3, "one value per round, all kept"
    assert cpu.ratio.low and cpu.ratio.high and cpu.ratio.low < 10 < cpu.ratio.high
    assert memory.ratio.median == pytest.approx(4120 / 320, rel=0.01)
    assert memory.at == "slope over 0 to 5,000 open flows"


def with_a_link(trials: list[Trial]) -> list[Trial]:
    """The peer hands frames over for 8 of its 10 us; its interface is polled for 5 us more."""
    for trial in trials:
        if trial.server == "astf-peer" and trial.offered_cps:
            connections = trial.offered_cps * 10
            labels = {"engine": "peer", "core": "0", "cpu": "1"}
            trial.samples += counter("engine.sending_time", 8e-6 * connections, labels)
            of = {"cpu": "1", "process": "9", "thread": "9", "command": "napi/sc-server0-1"}
            trial.samples += counter("task.time", 5e-6 * connections, of | {"kind": "task"})
    return trials


def test_the_factor_is_of_all_that_the_peers_side_takes_and_is_what_its_costs_divide_to() -> None:
    """One pair everywhere: 100 us of nginx, and 10 of the peer with 5 or more of the kernel."""
    summary = summarise(with_a_link(compared()), CONTEXT)
    level = summary.servers[1].levels[-1]
    beside = level.kinds("peer_kernel_cpu")
    assert beside["receive polls"].median == pytest.approx(5, rel=0.01)
    more = sum(spent.median or 0.0 for spent in beside.values())
    cpu = summary.factors[0]
    assert cpu.against_cost.median == pytest.approx(10 + more, rel=0.02)
    assert cpu.baseline_cost.median and cpu.against_cost.median
    divided = cpu.baseline_cost.median / cpu.against_cost.median
    assert cpu.ratio.median == pytest.approx(divided, rel=0.02)
    for table in (short_factor_table(summary), cost_table(summary), factor_table(summary)):
        text = " ".join(cell for row in table.rows for cell in row)
        assert number(cpu.ratio.median) in text and number(cpu.against_cost.median) in text
    (row,) = (row for row in short_cost_table(summary).rows if row[:2] == ("astf-peer", level.load))
    assert row[3].startswith(number(cpu.against_cost.median))
    (sentence,) = peer_sentences(summary)
    assert f"Of the {number(cpu.against_cost.median)} us of astf-peer" in sentence
    assert "8 to hand frames" in sentence.replace("8.00", "8")
    assert f"{number(more)} of the kernel beside it" in sentence and "between" not in sentence


def test_cpu_factor_is_taken_at_the_highest_trusted_load() -> None:
    trials = compared()
    assert summarise(trials, CONTEXT).factors[0].at == "2,000 connections/s"
    next(t for t in trials if t.offered_cps == 2000).suspended_s = 1.0
    assert summarise(trials, CONTEXT).factors[0].at == "1,000 connections/s"


def test_an_interrupted_run_keeps_what_it_has() -> None:
    trials = [trial for trial in compared() if trial.server == "nginx/kernel"]
    summary = summarise(trials, context_with(state="interrupted"))
    assert summary.state == "interrupted"
    nginx, peer = summary.servers
    assert nginx.levels and nginx.memory and not peer.levels and peer.memory is None
    assert [factor.ratio.median for factor in summary.factors] == [None, None]
    assert all(factor.ratio.reason for factor in summary.factors)


def test_a_run_without_any_trial_still_has_a_summary() -> None:
    assert summarise([], CONTEXT).servers[0].levels == []


def test_summary_survives_json_and_names_every_figure() -> None:
    summary = summarise(compared(), CONTEXT)
    assert Summary.model_validate_json(summary.model_dump_json()) == summary
    level = summary.servers[0].levels[0]
    for kind in level.kinds("server_cpu"):
        assert f"server_cpu.{kind}" in definitions()
    assert len(summary.trials) == len(compared())
    assert all(definition.source for definition in summary.definitions.values())
