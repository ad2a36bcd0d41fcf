import pytest

from stackcost.analysis import breakdown
from stackcost.analysis.readings import Readings
from tests.analysis.trials import counter, load_trial


def test_softirq_is_distinguished_by_vector_on_the_servers_cores() -> None:
    trial = load_trial()
    trial.samples += counter("softirq.time", 0.02, {"cpu": "1", "vector": "TIMER"})
    found = breakdown.softirq_cost(Readings(trial, [1]))
    assert found == pytest.approx({"NET_RX": 49, "TIMER": 2})


def test_threads_are_named_by_family_and_small_ones_summed_up() -> None:
    trial = load_trial()
    for number, (command, spent) in enumerate(
        (
            ("ksoftirqd/1", 0.03),
            ("napi/sc-server0", 0.02),
            ("napi/sc-server0-12", 0.01),
            ("cc1plus", 0.04),
            ("sshd", 0.0004),
            ("cron", 0.0002),
        )
    ):
        labels = {"cpu": "1", "process": str(50 + number), "thread": "1", "command": command}
        trial.samples += counter("task.time", spent, labels)
    found = breakdown.thread_cost(Readings(trial, [1]))
    assert found == pytest.approx(
        {
            "nginx": 50,
            "cc1plus, in no total": 4,
            "ksoftirqd": 3,
            "napi/sc-server0": 3,
            "others": 0.06,
        }
    )


def test_a_polling_peers_own_thread_is_left_out() -> None:
    """It was drawn with 480 us beside nginx's 185, nearly all of it polls that found nothing."""
    trial = load_trial("astf-peer", microseconds={"busy": 58})
    labels = {"cpu": "1", "process": "52", "thread": "52", "command": "napi/sc-server0-3"}
    trial.samples += counter("task.time", 0.02, labels | {"kind": "task"})
    assert breakdown.thread_cost(Readings(trial, [1])) == pytest.approx({"napi/sc-server0": 2})


def test_cycles_are_per_connection_and_unknown_without_counters() -> None:
    trial = load_trial()
    assert set(breakdown.hardware_cost(Readings(trial, [1])).values()) == {None}
    trial.samples += counter("cpu.cycles", 3e8, {"cpu": "1", "mode": "kernel"})
    assert breakdown.hardware_cost(Readings(trial, [1]))["cycles, kernel"] == pytest.approx(30_000)
