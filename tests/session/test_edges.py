"""The edges of a window, where one reading of all collectors takes long, as on a busy machine."""

import time
from pathlib import Path
from typing import Any

import pytest

from stackcost.analysis.readings import Readings
from stackcost.collect.sampler import Sampler
from stackcost.contracts.collector import Collector
from stackcost.contracts.load import HttpClients
from stackcost.contracts.sample import Kind, Metric, Sample
from stackcost.contracts.trial import Trial
from stackcost.contracts.window import Window
from stackcost.session.progress import Progress
from stackcost.session.server_session import ServerSession

LONG_S, WINDOW_S = 0.15, 1.0


class Clock(Collector):
    """Counters that grow by one in a second; they are read after `waits_s`."""

    def __init__(self, name: str, waits_s: float, series: int):
        self.name = name
        self._metric = Metric(name, "s", Kind.COUNTER, "the clock")
        self.metrics = (self._metric,)
        self._waits_s, self._series = waits_s, series

    def read(self) -> list[Sample]:
        time.sleep(self._waits_s)
        now = time.monotonic()
        return [self._metric.sample(now, now, each=str(n)) for n in range(self._series)]


class NewSeries(Clock):
    """Its series are new in each reading, and begin at the one before."""

    def read(self) -> list[Sample]:
        now = time.monotonic()
        return [self._metric.sample(at, at, each=str(now)) for at in (now - 60, now)]


def test_a_series_that_begins_in_the_past_moves_no_edge(tmp_path: Path) -> None:
    """Windows of 2 s were of 0.1 s, and no cost was known: stacks that are new begin at the last
    reading.
    """
    parts: dict[str, Any] = {"experiment": None, "serving": None, "progress": Progress()}
    clocks = [Clock("first", 0.0, 1), NewSeries("stacks", 0.0, 1)]
    with Sampler(clocks, interval_s=60) as sampler:
        session = ServerSession(**parts, sampler=sampler, folder=tmp_path)
        asked = time.monotonic()
        assert asked <= session.read_edge() <= time.monotonic()


def test_what_is_read_first_and_last_is_known_in_the_whole_window(tmp_path: Path) -> None:
    """No reading follows the window's end, and most series are read long after the first one."""
    clocks = [Clock("first", 0.0, 1), Clock("middle", LONG_S, 20), Clock("last", LONG_S, 1)]
    parts: dict[str, Any] = {"experiment": None, "serving": None, "progress": Progress()}
    with Sampler(clocks, interval_s=60) as sampler:
        session = ServerSession(**parts, sampler=sampler, folder=tmp_path)
        session.read_edge()
        start = session.read_edge()
        time.sleep(max(0.0, start + WINDOW_S - time.monotonic()))
        end = session.read_edge()
    trial = Trial("made", 1, 1, HttpClients(test="made"), 0)
    trial.phases, trial.samples = {"sustain": Window(start, end)}, sampler.samples
    for clock in clocks:
        assert Readings(trial).growth(clock.metrics[0], each="0") == pytest.approx(end - start), (
            clock.name
        )
    assert WINDOW_S <= end - start < WINDOW_S + LONG_S, "it does not hold the reading of its end"


class LateHost(list[Sample]):
    """A sampler of two hosts: what the other one read between edges comes after them."""

    @property
    def samples(self) -> list[Sample]:
        return self


def test_what_another_host_read_before_an_edge_is_of_the_trial_and_in_order(tmp_path: Path) -> None:
    metric = Metric("made", "1", Kind.COUNTER, "a test")
    parts: dict[str, Any] = {"experiment": None, "serving": None, "progress": Progress()}
    both = LateHost([metric.sample(5.0, 1)])
    session = ServerSession(**parts, sampler=both, folder=tmp_path)
    session.begin_trial()
    both += [metric.sample(7.0, 3), metric.sample(6.0, 2), metric.sample(4.0, 0)]
    assert [sample.time for sample in session.trial_samples()] == [4.0, 6.0, 7.0]
