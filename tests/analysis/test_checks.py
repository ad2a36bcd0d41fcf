from dataclasses import replace

import pytest

from stackcost.analysis.cost import core_time, cpu
from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.checks import Check, checks
from stackcost.analysis.trial.flags import disturbances, flags_of
from stackcost.contracts.counts import Limits, Schedule, Usage
from stackcost.contracts.load import HttpClients
from stackcost.contracts.trial import Trial
from tests.analysis.http_trials import asked
from tests.analysis.trials import (
    SUSTAIN,
    counter,
    gauge,
    hold_trial,
    load_trial,
    move_time,
    slow_slices,
)


def by_name(trial: Trial, cpus: tuple[int, ...] = (1,)) -> dict[str, Check]:
    return {check.name.split()[0]: check for check in checks(Readings(trial, cpus))}


def test_a_clean_trial_has_no_flag_and_every_check_holds() -> None:
    trial = load_trial()
    trial.load.overrun_s = 0.09  # the last connections still end
    assert flags_of(Readings(trial, (1,))) == []
    assert [check.holds for check in checks(Readings(trial, (1,)))] == [True] * 5


def test_each_fault_of_the_load_is_flagged() -> None:
    trial = load_trial(offered=2000)
    trial.load.schedule = Schedule(intended=10_007, opened=10_000, late=400, unsent=7)
    trial.load.client |= {"tcps_conndrops": 2, "tcps_keepdrops": 2, "tcps_sndrexmitpack": 5}
    trial.load.cut_flows = 3
    assert flags_of(Readings(trial, (1,))) == [
        "2 of 10,000 connections failed",
        "3 flows had not ended at the end of the drain",
        "completed 1,000 connections/s of 2,000 offered",
        "7 connections of the schedule not started",
        "4.0% of connections started later than scheduled",
        "5 segments retransmitted",
    ]


@pytest.mark.parametrize(
    "trial", [load_trial(), hold_trial(100, {"slab.bytes": 1.0}), asked("wrk", 4, "t", 0, 1000)]
)
def test_a_limit_that_the_server_reached_is_flagged(trial: Trial) -> None:
    trial.load.limits = Limits({"worker-0": Usage(1_020, 1_024)}, refused={"memory": 2})
    found = flags_of(Readings(trial, (1,)))
    assert "worker-0 had 1,020 open files; the limit is 1,024" in found
    assert "the server refused 2 connections because of a lack of memory" in found


@pytest.mark.parametrize("trial", [load_trial(), asked("wrk", 4, "t", 0, 1000)])
@pytest.mark.parametrize(("waiting", "full"), [(511, True), (400, False)])
def test_a_server_that_accepts_no_more_is_flagged(trial: Trial, waiting: int, full: bool) -> None:
    """Its stack may be another than the kernel's, which alone counts what it drops then."""
    trial.load.limits = Limits(accept_queue=Usage(waiting, 511))
    words = f"{waiting} connections waited to be accepted; there is room for 511"
    assert (words in flags_of(Readings(trial, (1,)))) == full


def clients_idle_for(seconds: float, offered: float) -> list[str]:
    """Flags of HTTP clients on core 0 in a window of 10 s, with a server that is busy for 1 s."""
    trial = asked("ab", 10, "new-full", offered, 1000)
    assert isinstance(trial.load, HttpClients)
    trial.load.processes = [8]
    labels = {"cpu": "0", "process": "8", "thread": "8", "command": "ab", "kind": "task"}
    trial.samples += counter("task.time", 10 - seconds, labels)
    move_time(trial, "0", {"task": -seconds, "idle": seconds})
    return flags_of(Readings(trial, (1,)))


def test_a_closed_loop_is_flagged_where_the_server_did_not_set_its_rate() -> None:
    (full,) = clients_idle_for(0.1, offered=0)
    assert full.startswith("the clients' cores were full (99%) and the server's were not (10%)")
    assert clients_idle_for(4, offered=0) == []
    (waited,) = clients_idle_for(8, offered=0)
    assert waited.startswith("neither the clients' cores (20% busy) nor the server's (10%) set")
    assert clients_idle_for(8, offered=1000) == [], "an open loop has its rate from the experiment"


def test_some_late_starts_are_no_reason_to_distrust() -> None:
    trial = load_trial()
    trial.load.schedule = Schedule(intended=10_000, opened=10_000, late=299, unsent=0)
    assert flags_of(Readings(trial, (1,))) == []
    trial.load.schedule.late = 400
    assert flags_of(Readings(trial, (1,))) == ["4.0% of connections started later than scheduled"]


def test_when_flows_to_be_held_were_opened_is_no_matter() -> None:
    trial = hold_trial(2000, {"slab.bytes": 1.0})
    trial.load.schedule = Schedule(intended=10_000, opened=10_000, late=9000, unsent=0)
    assert flags_of(Readings(trial, (1,))) == []


def test_slowed_cores_are_flagged_unless_enough_of_the_time_was_free_of_that() -> None:
    # A search asks whether anything was lost, so there it does not help.
    for free_s, wanted in ((0.7, ["except for 0.7 s (1.0 s are needed)"]), (1.2, [])):
        trial = load_trial()
        slow_slices(trial, [tenth >= round(10 * free_s) for tenth in range(100)])
        found = flags_of(Readings(trial, (1,)))
        assert [each.partition(", ")[2] for each in found] == wanted, found
        trial.load.offered_cps = 0.0
        found = disturbances(Readings(trial, (1,)))
        assert found and "slower than at full speed" in found[0]


def test_a_core_that_a_neighbour_slowed_is_flagged() -> None:
    trial = load_trial()
    trial.samples += counter("core.work_count", 500, {"cpu": "1"})
    trial.samples += gauge("core.work_least", [6e-6], {"cpu": "1"})
    undisturbed = trial.samples + counter("core.work_time", 500 * 6.05e-6, {"cpu": "1"})
    slowed = trial.samples + counter("core.work_time", 500 * 7.2e-6, {"cpu": "1"})
    assert flags_of(Readings(replace(trial, samples=undisturbed), (1,))) == []
    assert flags_of(Readings(replace(trial, samples=slowed), (1,))) == [
        "the server's cores were 20.0% slower than at full speed, "
        "except for 0.0 s (1.0 s are needed)"
    ]


def test_missing_flows_of_a_hold_are_flagged() -> None:
    trial = hold_trial(2000, {"slab.bytes": 1.0})
    assert flags_of(Readings(trial, (1,))) == []
    trial.load.held_flows = 1998.0
    assert flags_of(Readings(trial, (1,))) == ["1,998 flows held open, not 2,000"]


def test_bytes_requests_and_counts_must_agree_exactly() -> None:
    trial = load_trial()
    trial.load.client["tcps_rcvbyte"] -= 1
    trial.load.server_requests += 1
    trial.load.client["tcps_connects"] -= 1
    found = by_name(trial)
    assert [found[name].holds for name in ("received", "requests", "attempted")] == [False] * 3
    assert found["received"].wanted == "330000000" and found["received"].seen == "329999999"


def test_receive_work_on_the_wrong_core_fails() -> None:
    assert by_name(load_trial(), cpus=(0,))["share"].holds is False


def test_unknown_is_neither_pass_nor_fail() -> None:
    trial = load_trial()
    trial.load.server_requests = None
    check = by_name(trial)["requests"]
    assert check.holds is None and check.reason


def test_an_account_that_lost_time_does_not_close() -> None:
    closing = by_name(load_trial())["user"]
    assert closing.holds and "20.000 s (100.00%); stolen 0.000 s" in closing.seen
    trial = load_trial()
    for index, sample in enumerate(trial.samples):
        if sample.metric == "cpu.exact_time" and sample.labels == {"cpu": "1", "kind": "idle"}:
            trial.samples[index] = sample._replace(value=(sample.value or 0) * 0.95)
    closing = by_name(trial)["user"]
    assert closing.holds is False and "(97.75%)" in closing.seen


def test_a_hold_has_the_closing_of_its_time_as_its_check() -> None:
    (closing,) = checks(Readings(hold_trial(2000, {"slab.bytes": 1.0}), (1,)))
    assert closing.holds is None and closing.reason == "exact CPU time was not read"


def test_a_collector_that_fails_in_mid_trial_is_flagged_and_its_figures_are_unknown() -> None:
    trial = load_trial()
    edge = SUSTAIN.end
    last = [s for s in trial.samples if s.metric == "cpu.exact_time" and s.time >= edge]
    trial.samples = [sample for sample in trial.samples if sample not in last]
    trial.samples += [last[0]._replace(value=None, labels={}, reason="cpu account: it broke")]
    seen = Readings(trial, (1,))
    assert flags_of(seen) == ["failed during the trial: cpu account: it broke"]
    assert cpu.server_cost(seen)["softirq"] is None
    closing = by_name(trial)["user"]
    assert closing.holds is None and closing.reason == "cpu account: it broke"
    assert core_time.engine_busy_share(seen, "generator") == 0.4, "the others' figures stay"


def test_time_stolen_from_one_core_is_flagged_however_many_cores_there_are() -> None:
    """2 % of the server's core are 20 us of a connection at 1,000/s, and 0.5 % of four cores."""
    trial = load_trial("nginx/kernel", 1, 1)
    trial.samples = [each for each in trial.samples if each.metric != "cpu.time"]
    for core in range(4):
        for kind, share in (("idle", 0.98), ("steal", 0.02 if core == 1 else 0.0)):
            spent = counter("cpu.time", share * 10, {"cpu": str(core), "kind": kind})
            trial.samples += spent
    found = disturbances(Readings(trial, (1,)))
    assert [flag for flag in found if "stolen" in flag] == [
        "2.0% of core 1's time stolen by the hypervisor"
    ]
