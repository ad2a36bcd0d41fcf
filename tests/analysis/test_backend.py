"""The time of a server behind a device is its own, and neither the device's nor the generator's."""

import pytest

from stackcost.analysis.cpu import backend_cost, server_total
from stackcost.analysis.memory import components
from stackcost.analysis.readings import Readings
from tests.analysis.trials import add_backend, gauge, hold_trial, load_trial

CONNECTIONS = 10_000


def with_backend() -> Readings:
    """A device on core 1; behind it on core 0 a server of 60 us and its poll thread of 25 us."""
    trial = load_trial("dut/proxy_nginx", completed=CONNECTIONS)
    add_backend(trial, 60.0, 25.0, CONNECTIONS)
    return Readings(trial, (1,))


def test_its_processes_and_its_receive_work_are_its_cost_and_no_part_of_the_devices() -> None:
    seen = with_backend()
    assert backend_cost(seen.on([0])) == pytest.approx(
        {"user": 15.0, "system": 45.0, "receive polls": 25.0}
    )
    assert server_total(seen) == server_total(Readings(load_trial("alone"), (1,)))


def test_on_the_devices_core_it_is_a_part_of_the_whole() -> None:
    trial = load_trial("dut/proxy_nginx", completed=CONNECTIONS)
    alone = server_total(Readings(load_trial("alone"), (1,))) or 0.0
    add_backend(trial, 60.0, 25.0, CONNECTIONS, cpu="1")
    seen = Readings(trial, (1,))
    assert sum(cost or 0.0 for cost in backend_cost(seen).values()) == pytest.approx(85.0)
    assert server_total(seen) == pytest.approx(alone + 85.0)


def test_without_a_server_behind_there_is_no_such_cost() -> None:
    assert backend_cost(Readings(load_trial(), [0])) == {}


def test_a_server_whose_time_was_not_read_has_an_unknown_cost() -> None:
    seen = with_backend()
    seen.trial.samples = [s for s in seen.trial.samples if s.metric != "task.time"]
    assert set(backend_cost(Readings(seen.trial, [0])).values()) == {None}


def test_its_memory_is_told_from_the_devices() -> None:
    trial = hold_trial(100, {"process.pss": 50.0})
    trial.samples += gauge("backend.pss", [3e6], {"role": "master", "process": "8"})
    found = components(Readings(trial), {})
    assert found["backend process"] == 3e6 and found["process"] == pytest.approx(
        1_005_000, rel=1e-3
    )
