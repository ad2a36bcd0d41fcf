"""What a row of the benchmark tells of the engine's flows: why some failed, how a load grew."""

import importlib
import socket
from contextlib import ExitStack
from types import ModuleType

import pytest

from stackcost.host.waiting import wait_until
from tests.trex.conftest import REPOSITORY

NO_FAILURE = {
    "tcps_connattempt": 2000,
    "tcps_conndrops": 0,
    "tcps_drops": 0,
    "tcps_keepdrops": 0,
    "tcps_timeoutdrop": 0,
}


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(REPOSITORY / "engine" / "bench")


@pytest.fixture
def failures(bench: None) -> ModuleType:
    return importlib.import_module("tools.failures")


@pytest.fixture
def ramp(bench: None) -> ModuleType:
    return importlib.import_module("tools.ramp")


def test_nothing_is_reported_of_a_trial_without_failures(failures: ModuleType) -> None:
    assert failures.told("engine", NO_FAILURE, overflows=3) == ""


def test_counters_and_causes_of_failed_flows_are_reported(failures: ModuleType) -> None:
    client = NO_FAILURE | {"tcps_conndrops": 9, "tcps_drops": 2, "tcps_keepdrops": 9}
    told = failures.told("engine", client, overflows=70)
    assert told.startswith("engine: 11 of 2000 flows failed (tcps_conndrops 9, tcps_drops 2); ")
    assert "tcps_keepdrops 9: the handshake was not complete" in told
    assert "tcps_timeoutdrop" not in told
    assert told.endswith("2 reset by the server; the accept queue overflowed 70 times")


def test_a_full_accept_queue_is_counted(failures: ModuleType) -> None:
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        overflows = stack.enter_context(failures.accept_queue_overflows(None))
        before = overflows.count()
        for _ in range(8):
            client = stack.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(listener.getsockname())
        assert wait_until(lambda: overflows.count() > before, 10)


SECONDS = [  # offered, opened, closed a second; failures so far
    (50_000, 50_000, 50_000, 0),
    (100_000, 100_000, 99_000, 0),
    (150_000, 149_000, 148_000, 7),
    (200_000, 180_000, 179_000, 900),
    (250_000, 230_000, 190_000, 5000),
]


def test_none_is_lost_up_to_the_first_failure(ramp: ModuleType) -> None:
    assert ramp.none_lost([ramp.Second(*one) for one in SECONDS]) == 99_000
    assert ramp.none_lost([ramp.Second(*one) for one in SECONDS[2:]]) == 0
    caught_up = ramp.Second(120_000, 160_000, 160_000, 0)  # what the second before had left
    assert ramp.none_lost([*(ramp.Second(*one) for one in SECONDS[:2]), caught_up]) == 99_000
    slower = ramp.Second(200_000, 90_000, 90_000, 0)  # under more than it keeps up with
    assert ramp.none_lost([*(ramp.Second(*one) for one in SECONDS[:2]), slower]) == 99_000


def test_losses_are_allowed_where_as_many_close_as_open(ramp: ModuleType) -> None:
    seconds = [ramp.Second(*one) for one in SECONDS]
    assert ramp.losses_allowed(seconds) == 179_000
    assert ramp.losses_allowed(seconds[4:]) == 0
    assert ramp.losses_allowed([ramp.Second(120_000, 160_000, 160_000, 9)]) == 120_000
    assert [one.keeps_up for one in seconds] == [True, True, True, False, False]
