"""Programs that are stopped, or wait for their core, are seen in a window of any length."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.flags import disturbances
from stackcost.contracts.load import HttpClients
from stackcost.host.not_running import NotRunning
from tests.analysis.http_trials import asked

SPIN = [sys.executable, "-S", "-c", "while True: pass"]
SLEEP = ["sleep", "60"]


@pytest.fixture
def started() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def start(stack: ExitStack, command: list[str]) -> int:
    process = subprocess.Popen(command)
    stack.callback(process.wait)
    stack.callback(process.kill)
    return process.pid


def test_a_stopped_program_is_seen_with_how_long(started: ExitStack) -> None:
    stopped, sleeping = (start(started, SLEEP) for _ in range(2))
    timers = [
        threading.Timer(after, os.kill, (stopped, what))
        for after, what in ((0.5, signal.SIGSTOP), (1.5, signal.SIGCONT))
    ]
    for timer in timers:
        timer.start()
        started.callback(timer.join)
    watched = NotRunning([stopped, sleeping])
    watched.watch_until(time.monotonic() + 2.5)
    assert 0.5 < watched.stopped_s < 2.0
    alone = NotRunning([sleeping])
    alone.watch_until(time.monotonic() + 0.5)
    assert alone.stopped_s == 0 and alone.waited_s < 0.2


def test_a_program_that_shares_its_core_waits_for_it(started: ExitStack) -> None:
    both = [start(started, SPIN) for _ in range(2)]
    for each in both:
        os.sched_setaffinity(each, {0})
    watched = NotRunning(both)
    watched.watch_until(time.monotonic() + 2.0)
    assert watched.waited_s > 0.5 and watched.stopped_s == 0


@pytest.mark.parametrize(
    ("stopped_s", "waited_s", "told"),
    [
        (3.7, 0.2, ["a client was stopped for 3.7 s of the window of 10.0 s"]),
        (0.0, 4.0, ["a client waited for its core for 4.0 s of the window of 10.0 s"]),
        (0.1, 0.5, []),
        (None, None, []),
    ],
)
def test_such_a_trial_is_disturbed(
    stopped_s: float | None, waited_s: float | None, told: list[str]
) -> None:
    """wrk that was stopped for 1.5 of 4 s gave 6,125/s for 10,821 without a word."""
    trial = asked("wrk", 4, "tps", 0, 1000)
    load = trial.load_of(HttpClients)
    load.stopped_s, load.waited_s = stopped_s, waited_s
    assert [each for each in disturbances(Readings(trial, (1,))) if "a client" in each] == told
