"""The bottleneck, from trials whose readings show one fault each."""

from typing import Any

import pytest

from stackcost.analysis.ceiling.bottleneck import Bottleneck, find_bottleneck
from stackcost.analysis.readings import Readings
from stackcost.contracts.counts import Limits, Usage
from stackcost.contracts.metrics import TASK_TIME
from stackcost.contracts.sample import Sample
from stackcost.contracts.trial import Trial
from tests.analysis.trials import END, START, add_other_program, counter, gauge, load_trial

IDLE = {"user": 50.0, "system": 200.0, "irq": 10.0, "softirq": 240.0}  # half of the core
FULL = {"user": 100.0, "system": 390.0, "irq": 10.0, "softirq": 495.0}


def search_trial(microseconds: dict[str, float], server: str = "nginx/kernel") -> Trial:
    """A trial of 10 s as a search makes it: its kinds of time are known by the kernel alone."""
    trial = load_trial(server, microseconds=microseconds)
    exact = ("cpu.exact_time", "softirq.time", "softirq.count")
    trial.samples = [
        sample
        for sample in trial.samples
        if sample.metric not in exact and not is_of(sample, "cpu.time", "1")
    ]
    seconds = {kind: cost / 100 for kind, cost in microseconds.items()}
    for kind, spent in (seconds | {"idle": 10 - sum(seconds.values())}).items():
        trial.samples += counter("cpu.time", spent, {"cpu": "1", "kind": kind})
    return trial


def is_of(sample: Sample, metric: str, cpu: str) -> bool:
    return sample.metric == metric and sample.labels["cpu"] == cpu


def answer(trial: Trial) -> Bottleneck:
    return find_bottleneck(Readings(trial, (1,)))


def tcp(name: str, number: float) -> list[Any]:
    return counter("tcp.counter", number, {"namespace": "server", "counter": name})


def test_a_core_without_time_is_named_with_what_took_it() -> None:
    found = answer(search_trial(FULL))
    assert found.cause == "core"
    words = "99% busy (nginx 49%; softirqs included: 49%, sampled by the kernel's ticks)"
    assert found.sentence == f"core 1 was saturated: {words}"


def test_what_programs_took_before_the_window_fills_no_core_in_it() -> None:
    """As of a search's first trial: its first reading of threads is the window's own edge."""
    trial = search_trial(FULL)
    trial.samples = [each for each in trial.samples if each.metric != "task.time"]
    for process, command, spent in (("7", "nginx", 4.9), ("99", "cc1plus", 0.01)):
        labels = {"cpu": "1", "process": process, "thread": process, "command": command}
        for at, seconds in ((START + 0.001, 30.0), (END, 30.0 + spent)):
            trial.samples.append(TASK_TIME.sample(at, seconds, **labels, kind="task"))
    found = answer(trial)
    assert [sign.cause for sign in found.evidence] == ["core"], found.sentence


def test_without_threads_that_were_read_no_program_is_not_said_of_a_full_core() -> None:
    trial = search_trial(FULL)
    trial.samples = [each for each in trial.samples if each.metric != "task.time"]
    words = "99% busy (programs unknown; softirqs included: 49%, sampled by the kernel's ticks)"
    assert answer(trial).sentence == f"core 1 was saturated: {words}"


def test_a_queue_that_overflows_on_a_full_core_is_its_consequence() -> None:
    trial = search_trial(FULL)
    trial.samples += tcp("TcpExtListenOverflows", 213)
    trial.load.limits = Limits(accept_queue=Usage(511, 511))
    found = answer(trial)
    assert [sign.cause for sign in found.evidence] == ["core", "accept queue"]
    assert found.sentence.endswith("; the accept queue overflowed 213 times (its length is 511)")


def test_a_queue_that_is_full_is_the_cause_where_no_overflow_is_counted() -> None:
    trial = search_trial(IDLE)
    trial.load.limits = Limits(accept_queue=Usage(4096, 4096))
    found = answer(trial)
    assert found.cause == "accept queue"
    assert found.sentence == "4,096 connections waited to be accepted; there is room for 4,096"


@pytest.mark.parametrize(
    ("limits", "cause", "words"),
    [
        (
            Limits(open_files={"worker-0": Usage(20_000, 20_000)}),
            "open files",
            "worker-0 had 20,000 open files; the limit is 20,000",
        ),
        (
            Limits(refused={"worker_connections": 17}),
            "server's own limit",
            "the server refused 17 connections because of a lack of worker_connections",
        ),
        (
            Limits(tracked_connections_limit=1000),
            "connection tracking",
            "netfilter tracked 995 connections; the limit is 1,000",
        ),
    ],
)
def test_a_limit_that_was_reached_comes_before_a_full_core(
    limits: Limits, cause: str, words: str
) -> None:
    trial = search_trial(FULL)
    trial.load.limits = limits
    trial.samples += gauge("conntrack.entries", (900, 995), {"namespace": "server"})
    found = answer(trial)
    assert found.cause == cause and found.evidence[0].words == words
    assert found.evidence[1].cause == "core"


def test_limits_that_were_not_reached_are_not_mentioned() -> None:
    trial = search_trial(FULL)
    trial.load.limits = Limits(
        open_files={"worker-0": Usage(19_000, 20_000)},
        refused={"worker_connections": 0},
        tracked_connections_limit=262_144,
    )
    assert [sign.cause for sign in answer(trial).evidence] == ["core"]


@pytest.mark.parametrize(
    ("of_generator", "of_server", "cause"),
    [
        ({"err_c_tuple_err": 3}, [], "client ports"),
        ({"tcps_rexmttimeo_syn": 40}, [], "on the way"),
        ({}, tcp("TcpExtTCPMemoryPressures", 2), "memory"),
        ({}, tcp("TcpExtListenOverflows", 213), "accept queue"),
    ],
)
def test_with_an_idle_core_what_was_counted_is_the_cause(
    of_generator: dict[str, int], of_server: list[Any], cause: str
) -> None:
    trial = search_trial(IDLE)
    trial.load.client |= of_generator
    trial.samples += of_server
    assert answer(trial).cause == cause


def test_a_busy_generator_comes_first() -> None:
    trial = search_trial(FULL)
    trial.samples = [
        sample._replace(value=(sample.value or 0) * 2.2)
        if sample.metric == "engine.busy_time"
        else sample
        for sample in trial.samples
    ]
    found = answer(trial)
    assert found.cause == "generator" and "88% busy" in found.sentence


def test_a_core_that_others_filled_is_not_the_servers_fault() -> None:
    trial = search_trial(IDLE)
    add_other_program(trial, 5.0)
    found = answer(trial)
    assert found.cause == "other programs", found.sentence


def test_a_peer_whose_core_is_full_is_named() -> None:
    found = answer(search_trial({"busy": 990.0}, "astf-peer"))
    assert found.sentence == "core 1 was saturated: the peer was busy 99% of the time"


def test_nothing_found_is_said() -> None:
    found = answer(search_trial(IDLE))
    assert found.cause == "unknown"
    assert found.sentence == "no measured resource was at its limit"
