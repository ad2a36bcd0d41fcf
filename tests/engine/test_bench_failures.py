"""Why the engine's flows failed, as a row of the benchmark tells it."""

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
def failures(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(REPOSITORY / "engine" / "bench")
    from tools import failures

    return failures


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
