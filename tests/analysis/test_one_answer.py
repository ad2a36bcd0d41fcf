"""Factors, `stackcost diff` and gates answer the same question about the same rounds alike."""

import random
from dataclasses import replace

import pytest

from stackcost.analysis.readings import Readings
from stackcost.analysis.summarise import summarise
from stackcost.contracts.system import System
from stackcost.contracts.trial import Trial
from stackcost.gate.figure import WHOLE_CORES
from stackcost.gate.trial import gate_trial
from stackcost.gate.verdict import against_baseline
from stackcost.report.difference import Side, difference
from stackcost.store import Manifest
from tests.analysis.runs import CONTEXT
from tests.analysis.trials import counter, gauge, load_trial, tenths

A, B = "nginx/kernel:stock", "nginx/kernel:tuned"
ROUNDS = 12
DEARER = 1.05
CALL_S = 2e-6


def trial(server: str, round_number: int, cost_us: float, drawn: random.Random) -> Trial:
    """A load trial beside a neighbour that makes system calls, and by 1.2 of that connections,
    take longer. It is there throughout, but for a few tenths of a second that tell little of the
    server: it took any part of its time in them.
    """
    slower = drawn.uniform(1.05, 1.4)
    cost = cost_us * slower**1.2
    kinds = {"user": 0.1 * cost, "system": 0.4 * cost, "irq": 0.0, "softirq": 0.5 * cost}
    made = load_trial(server, round_number, round_number, microseconds=kinds)
    softirq = {"cpu": "1", "kind": "softirq"}
    made.samples = [s for s in made.samples if s.labels != softirq]
    free = [tenth < 15 for tenth in range(100)]
    in_free = 0.5 * cost_us * drawn.uniform(0.7, 1.3) / 1e4  # s per tenth, at 100 connections
    spent = 0.5 * cost * 1e4 / 1e6
    rest = (spent - in_free * sum(free)) / (100 - sum(free))
    made.samples += tenths("cpu.exact_time", [in_free if f else rest for f in free], softirq)
    work = [5 * (6e-6 if f else 6e-6 * slower) for f in free]
    made.samples += tenths("core.work_count", [5] * 100, {"cpu": "1"})
    made.samples += tenths("core.work_time", work, {"cpu": "1"})
    made.samples += gauge("core.work_least", [6e-6], {"cpu": "1"})
    made.samples += tenths("core.system_call_time", [5 * CALL_S * slower] * 100, {"cpu": "1"})
    made.samples += tenths("core.memory_read_time", [5 * 250e-9] * 100, {"cpu": "1"})
    return made


def run() -> list[Trial]:
    drawn = random.Random(4)
    made = []
    for number in range(1, ROUNDS + 1):
        for server, cost in ((A, 100.0), (B, 100.0 * DEARER)):
            made.append(trial(server, number, cost, drawn))
    return [replace(each, number=at) for at, each in enumerate(made, 1)]


def test_beside_a_polling_peer_factor_and_diff_divide_by_all_that_its_side_takes() -> None:
    kinds = {
        "nginx/kernel": {"user": 10.0, "system": 40.0, "irq": 0.0, "softirq": 50.0},
        "astf-peer": {"busy": 20.0, "sending": 15.0, "softirq": 20.0},
    }
    trials, poll = [], {"cpu": "1", "process": "9", "thread": "9", "kind": "task"}
    for number in range(1, ROUNDS + 1):
        for server, cost in kinds.items():
            made = load_trial(server, len(trials) + 1, number, microseconds=cost)
            if server == "astf-peer":
                made.samples += counter("task.time", 0.1, poll | {"command": "napi/sc-server0"})
            trials.append(made)
    names = tuple(kinds)
    systems = tuple(map(System.of, names))
    summary = summarise(trials, replace(CONTEXT, systems=systems, pairs=(names,)))
    manifest = Manifest(
        run=summary.run, command=[], experiment={}, systems=list(systems), machine={}
    )
    (by_diff,) = (
        each
        for each in difference(*(Side(manifest, summary, name) for name in names)).comparisons
        if each.p_corrected is not None
    )
    assert summary.factors[0].ratio.median == pytest.approx(100 / 50)
    assert by_diff.ratio == pytest.approx(50 / 100)
    assert by_diff.figure == "server_cpu_total"


def test_one_run_has_one_answer_in_every_command() -> None:
    trials = run()
    systems = System.of(A), System.of(B)
    context = replace(CONTEXT, systems=systems, pairs=((B, A),))
    summary = summarise(trials, context)
    manifest = Manifest(
        run=summary.run, command=[], experiment={}, systems=list(systems), machine={}
    )
    sides = [Side(manifest, summary, name) for name in (A, B)]
    (by_diff,) = (each for each in difference(*sides).comparisons if each.p_corrected is not None)
    of_gate = {
        name: [
            gate_trial(Readings(each, (1,)), replace(context, of_gate=True))
            for each in trials
            if each.server == name
        ]
        for name in (A, B)
    }
    by_gate = against_baseline(WHOLE_CORES, of_gate[A], of_gate[B], tolerance=0.0, rate=0.01)
    by_factor = summary.factors[0].ratio.median
    said = {"factor": by_factor, "diff": by_diff.ratio, "gate": 1 / (by_gate.compared.ratio or 0.0)}
    assert said["factor"] == said["diff"] == pytest.approx(said["gate"], rel=0.01)
    assert by_diff.low and by_diff.high and by_diff.low < DEARER < by_diff.high
