"""What each hop adds, and what a rule costs, with known answers."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from stackcost.analysis.summarise import summarise
from stackcost.analysis.summary import Summary
from stackcost.contracts.system import System
from stackcost.contracts.trial import Trial
from stackcost.report.paths import (
    added,
    added_bytes,
    hops_of,
    memory_parts,
    paths_answer,
    rule_lines,
)
from stackcost.report.published.tables import sidecar_table
from tests.analysis.runs import context_with
from tests.analysis.trials import add_backend, gauge, hold_trial, load_trial

ROUNDS = (1, 2, 3, 4, 5, 6)
PROXY = {"user": 40.0, "system": 100.0, "irq": 2.0, "softirq": 58.0}
ROUTER = {"user": 0.0, "system": 5.0, "irq": 1.0, "softirq": 14.0}
RULED = {
    each.name: each
    for each in (System.of("dut/service_iptables", {"rules": rules}) for rules in (0, 1000, 4000))
}


def load(name: str, path: dict[str, float], server: float, number: int, offered: int) -> Trial:
    """At `offered` connections/s; `server` of the path's time is the server's own processes'."""
    completed = offered * 10
    trial = load_trial(name, number, number, offered, path, completed)
    add_backend(trial, server, 20.0, completed, cpu="1")
    return trial


def paths(loads: Sequence[int] = (500, 1000)) -> list[Trial]:
    """The bare server of 80 us; a proxy of 200 us with one of 70 us; a router of 20 us."""
    trials = [
        load(name, path, server, number, offered)
        for number in ROUNDS
        for offered in loads
        for name, path, server in (
            ("dut/wire", {"user": 0.0, "system": 0.0, "irq": 0.0, "softirq": 0.0}, 60.0),
            ("dut/proxy_nginx", PROXY, 50.0),
            ("dut/forwarding", ROUTER, 60.0),
        )
    ]
    return trials


def summary_of(trials: Sequence[Trial]) -> Summary:
    names = dict.fromkeys(trial.server for trial in trials)
    systems = tuple(RULED.get(name) or System.of(name) for name in names)
    return summarise(trials, replace(context_with(backend_on="device"), systems=systems, pairs=()))


def test_a_path_adds_what_its_cores_take_more_than_those_of_the_bare_server() -> None:
    hops = hops_of(summary_of(paths()))
    assert hops is not None and hops.offered_cps == 1000
    assert hops.bare.median == pytest.approx(80) == hops.bare_server.median
    proxy, router = hops.hops
    assert (proxy.system, router.system) == ("dut/proxy_nginx", "dut/forwarding")
    assert proxy.whole.median == pytest.approx(270) and router.whole.median == pytest.approx(100)
    assert proxy.added_whole.median == pytest.approx(190)
    assert proxy.server.median == pytest.approx(70), "its threads: a part of the whole"
    assert added(proxy)["softirq"] == pytest.approx(PROXY["softirq"])
    assert proxy.compared.ratio == pytest.approx(270 / 80)
    assert proxy.compared.verdict == "dearer"


def test_parts_add_up_to_the_whole() -> None:
    hops = hops_of(summary_of(paths()))
    assert hops is not None and hops.bare.median is not None
    for hop in hops.hops:
        assert hops.bare.median + sum(added(hop).values()) == pytest.approx(hop.whole.median)


def test_two_rounds_rank_no_path() -> None:
    few = [trial for trial in paths() if trial.round <= 2]
    answer = paths_answer(summary_of(few))
    assert answer.startswith("**What a path adds is not sure** (at 1,000 connections/s): 2 pairs")
    assert "adds 190" not in answer and "cheapest" not in answer


def test_a_published_sidecar_is_a_multiple_of_the_envoy_measured_here() -> None:
    trials = paths()
    assert sidecar_table(summary_of(trials)).rows == []
    for trial in trials:
        trial.server = trial.server.replace("proxy_nginx", "proxy_envoy_http")
    table = sidecar_table(summary_of(trials))
    assert table.columns == ("publication", "us per request", "times dut/proxy_envoy_http")
    assert [row[1:] for row in table.rows if "1.7.4" in row[0]] == [("500", "2.63x")]


def test_without_the_bare_server_or_a_server_behind_there_is_no_answer() -> None:
    no_bare = [trial for trial in paths() if trial.server != "dut/wire"]
    assert hops_of(summary_of(no_bare)) is None
    assert hops_of(summary_of(paths()).model_copy(update={"backend_on": None})) is None
    assert "No path was measured" in paths_answer(summary_of(no_bare))


def test_a_server_on_the_generators_cores_is_not_taken_for_the_bare_server() -> None:
    """Its receive work and its frames cross no core there, so it costs a third."""
    summary = summary_of(paths()).model_copy(update={"backend_on": "load"})
    assert hops_of(summary) is None
    assert "cost is not known whole" in paths_answer(summary)


def test_a_rule_of_40_ns_is_found_with_its_interval() -> None:
    trials = [
        load(
            f"dut/service_iptables:{rules}-rules",
            ROUTER | {"softirq": 60.0 + 0.040 * rules + (number % 2)},
            60.0,
            number,
            1000,
        )
        for number in ROUNDS[:4]
        for rules in (0, 1000, 4000)
    ]
    (line,) = rule_lines(summary_of(trials))
    assert line.system == "dut/service_iptables"
    assert line.per_rule == pytest.approx(0.040, rel=0.01)
    assert line.low < 0.040 < line.high and line.high - line.low < 0.002
    assert line.r_squared > 0.99 and len(line.points) == 12


def test_two_lengths_make_no_line() -> None:
    trials = [
        load(f"dut/service_iptables:{rules}-rules", ROUTER, 60.0, 1, 1000) for rules in (0, 1000)
    ]
    assert rule_lines(summary_of(trials)) == []


def test_a_paths_caches_are_compared_with_the_bare_servers() -> None:
    trials = []
    for name, sockets, tracked in (("dut/wire", 2_400.0, 0.0), ("dut/proxy_nginx", 7_200.0, 256.0)):
        for at, count in enumerate((0, 1_000)):
            trial = hold_trial(count, {"slab.bytes": sockets}, name, at + 1)
            entries = [tracked * count] * 4
            trial.samples += gauge("slab.bytes", entries, {"cache": "nf_conntrack"})
            trials.append(trial)
    assert added_bytes(summary_of(trials)) == {
        "dut/proxy_nginx": pytest.approx({"TCP": 4_800.0, "nf_conntrack": 256.0}, abs=1)
    }


def held(name: str, slab: float, process: float, own: float, behind: float, kept: float) -> list:
    """Bytes and sockets per flow: of the kernel, the path's process, both sides, and the server."""
    trials = []
    for at, count in enumerate((0, 1_000)):
        trial = hold_trial(count, {"slab.bytes": slab, "process.pss": process}, name, at + 1)
        sockets = {"namespace": "n", "protocol": "TCP", "state": "inuse"}
        trial.samples += gauge("sockstat.sockets", [own * count] * 4, sockets)
        trial.samples += gauge("backend.sockets", [3 + behind * count] * 4, {})
        trial.samples += gauge(
            "backend.pss", [kept * count] * 4, {"role": "master", "process": "8"}
        )
        trials.append(trial)
    return trials


def test_memory_is_told_apart_by_the_sockets_of_each_part() -> None:
    """A proxy that keeps one connection for two flows: half a socket of the server for a flow."""
    trials = [
        *held("dut/wire", 3_000.0, 0.0, 0.0, 1.0, 500.0),
        *held("dut/proxy_envoy_http", 9_000.0, 40_000.0, 1.5, 0.5, 250.0),
    ]
    bare, proxy = memory_parts(summary_of(trials))
    assert (bare.path_kernel, bare.path_process) == (None, None)
    assert (bare.server_kernel, bare.server_process) == pytest.approx((3_000, 500), rel=1e-3)
    assert (proxy.path_kernel, proxy.path_process) == pytest.approx((7_500, 40_000), rel=1e-3)
    assert (proxy.server_kernel, proxy.server_process) == pytest.approx((1_500, 250), rel=1e-3)
