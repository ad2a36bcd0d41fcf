"""A headline is taken below what the slower system holds, never at overload."""

import pytest

from stackcost.analysis.readings import Readings
from stackcost.analysis.summarise import summarise
from stackcost.analysis.trial.overload import overload
from stackcost.contracts.trial import Trial
from stackcost.report.answers import cpu_answer
from stackcost.report.results.opened import OpenedRuns
from stackcost.report.story import reading
from tests.analysis.runs import CONTEXT, context_with
from tests.analysis.trials import add_other_program, load_trial
from tests.report.opened import opened_costs

CPUS = (1,)
COSTS = {
    "nginx/kernel": {"user": 10.0, "system": 40.0, "irq": 1.0, "softirq": 49.0},
    "astf-peer": {"busy": 10.0},
}
OVERLOADED = {"user": 25.0, "system": 98.0, "irq": 2.0, "softirq": 120.0}  # 98 % of the core


def over_rounds(*rates: float, drowned: tuple[float, ...] = (), rounds: int = 2) -> list[Trial]:
    """Both servers at these loads; nginx's core has no time left at the `drowned` ones."""
    trials: list[Trial] = []
    for number in range(1, rounds + 1):
        for server, cost in COSTS.items():
            for rate in rates:
                over = server == "nginx/kernel" and rate in drowned
                at, completed = len(trials) + 1, int(rate * 10)
                spent = (
                    {kind: us * 4000 / rate for kind, us in OVERLOADED.items()} if over else cost
                )
                trials.append(load_trial(server, at, number, rate, spent, completed))
    return trials


def one(**others: float) -> Trial:
    """One trial of nginx, with other counters of the generator's."""
    trial = load_trial()
    trial.load.client |= others
    return trial


def test_a_trial_tells_itself_that_its_server_was_past_the_ceiling() -> None:
    def signs(trial: Trial) -> list[str]:
        return overload(Readings(trial, CPUS))

    assert signs(one()) == []
    assert signs(one(tcps_sndrexmitpack=40)) == [], "one in 250 is a hiccup"
    assert signs(one(tcps_sndrexmitpack=60)) == ["60 segments retransmitted in 10,000 connections"]
    assert signs(one(tcps_drops=60)) == ["60 of 10,000 connections failed"]
    late = one()
    late.load.cut_flows = 51
    assert signs(late) == ["51 of 10,000 connections had not ended at the end of the drain"]
    short = one()
    short.load.offered_cps = 1060.0
    assert signs(short) == ["completed 1,000 connections/s of 1,060 offered"]
    (drowned,) = (
        t for t in over_rounds(4000, drowned=(4000,), rounds=1) if t.server != "astf-peer"
    )
    assert signs(drowned) == ["it used 98% of core 1"]
    beside = load_trial()
    add_other_program(beside, 8.5)
    assert signs(beside) == [], "other programs are a disturbance, and no ceiling of the server's"
    busy_peer = load_trial("astf-peer", microseconds={"busy": 950.0})
    assert signs(busy_peer) == ["its loop was busy 95% of the time"], "a polling core is never idle"


def test_a_load_past_the_ceiling_is_in_no_headline() -> None:
    trials = over_rounds(1000, 2000, 4000, drowned=(4000,))
    for trial in trials:
        trial.suspended_s = 1.0  # a disturbance
    summary = summarise(trials, CONTEXT)
    assert summary.factors[0].at == "2,000 connections/s, 4 of its trials flagged"
    assert summary.factors[0].ratio.median == pytest.approx(10)
    nginx = summary.servers[0]
    assert [level.offered_cps for level in nginx.levels] == [1000, 2000, 4000], "the curve has all"
    assert [bool(level.past_ceiling) for level in nginx.levels] == [False, False, True]
    assert "at 2,000 connections/s one connection takes 100 us" in reading(summary)
    alone = summary.model_copy(update={"factors": []})
    assert "100 us of CPU on nginx/kernel at 2,000/s" in cpu_answer(
        OpenedRuns([opened_costs(alone)])
    )


def test_without_a_load_below_the_ceiling_the_factor_is_unknown_and_says_why() -> None:
    factor = summarise(over_rounds(4000, drowned=(4000,)), CONTEXT).factors[0]
    assert factor.ratio.median is None and factor.baseline_cost.median is None
    assert factor.ratio.reason == (
        "every common load was above the ceiling: at 4,000 connections/s nginx/kernel "
        "(it used 98% of core 1)"
    )


def test_of_loads_that_are_shares_of_the_ceiling_the_headline_is_at_half() -> None:
    found = {"nginx/kernel": 4100.0, "astf-peer": 4100.0}
    context = context_with(ceilings=found)
    trials = over_rounds(1000, 2100, 3100)
    for trial in trials:
        if trial.offered_cps == 2100:
            trial.suspended_s = 1.0
    summary = summarise(trials, context)
    assert summary.factors[0].at == (
        "2,100 connections/s, 51% of the ceiling of nginx/kernel, 4 of its trials flagged"
    )
    assert summary.ceilings == found
    drowned = summarise(over_rounds(1000, 2100, 3100, drowned=(2100,)), context)
    assert drowned.factors[0].at == "1,000 connections/s, 24% of the ceiling of nginx/kernel"
