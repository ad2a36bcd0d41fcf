"""The sampler: edges, interval, and life with collectors that fail."""

import os
import threading
import time
from collections.abc import Sequence

import pytest

from stackcost.collect import sampler as sampler_module
from stackcost.collect.sampler import Sampler
from stackcost.contracts.collector import Collector, Phase
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.sample import DeferredSamples, Kind, Metric, Sample
from stackcost.host.cores import online_cpus
from stackcost.host.timeouts import timeout_factor
from stackcost.host.waiting import wait_until

TURN = Metric("made.turn", "1", Kind.COUNTER, "a test")


class Turns(Collector):
    """Counts its readings; fails where told to."""

    metrics = (TURN,)

    def __init__(self, name: str = "turns", fail_start: bool = False, fail_read: int = 0):
        self.name = name
        self.turn = 0
        self.stopped = 0
        self.cpus: set[int] = set()
        self._fail_start = fail_start
        self._fail_read = fail_read

    def start(self) -> None:
        if self._fail_start:
            raise StackcostError("this machine has no turns", "turn it")

    def read(self) -> Sequence[Sample]:
        self.turn += 1
        self.cpus |= os.sched_getaffinity(0)
        if self.turn == self._fail_read:
            raise ValueError("dizzy")
        return [TURN.sample(time.monotonic(), self.turn, who=self.name)]

    def stop(self) -> None:
        self.stopped += 1


def test_reading_now_returns_values_read_after_the_call() -> None:
    with Sampler([Turns()], interval_s=60) as sampler:
        before = time.monotonic()
        (sample,) = sampler.read_now()
        assert before <= sample.time <= time.monotonic()
    assert sample in sampler.samples


def test_readings_go_on_at_the_interval_between_the_edges() -> None:
    turns = Turns()
    with Sampler([turns], interval_s=0.02):
        assert wait_until(lambda: turns.turn >= 5, 10)
    read = turns.turn
    time.sleep(0.06)
    assert turns.turn == read, "a sampler that was left still reads"


def test_some_are_read_more_often() -> None:
    often, seldom = Turns("often"), Turns("seldom")
    often.often = True
    with Sampler([often, seldom], interval_s=60) as sampler:
        sampler.read_often(0.01)
        sampler.read_now()
        assert wait_until(lambda: often.turn >= 10, 20)
    assert seldom.turn == 2


def test_a_collector_that_cannot_start_is_unknown_and_the_others_go_on() -> None:
    bad, good = Turns("bad", fail_start=True), Turns("good")
    with Sampler([bad, good], interval_s=60) as sampler:
        unknown, known = sampler.read_now()
    assert unknown.value is None
    assert unknown.reason == "this machine has no turns; turn it"
    assert known.value == 2
    assert (bad.turn, bad.stopped, good.stopped) == (0, 1, 1)


def test_one_that_cannot_start_says_nothing_of_another_of_its_name() -> None:
    """A collector of the user's own may be called as one of the suite's, and its error be empty."""

    class Silent(Turns):
        def start(self) -> None:
            raise TimeoutError

    with Sampler([Silent("slab"), Turns("slab")], interval_s=60) as sampler:
        failed, read = sampler.read_now()
    assert (failed.value, failed.reason) == (None, "TimeoutError") and read.value


def test_a_reading_that_fails_is_unknown_and_the_next_one_counts() -> None:
    with Sampler([Turns("spinner", fail_read=2)], interval_s=60) as sampler:
        sampler.read_now()
        sampler.read_now()
    assert [sample.value for sample in sampler.samples] == [1, None, 3]
    assert sampler.samples[1].reason == "spinner: dizzy"


class Decodes(Turns):
    """Its samples take long to make. `made_by`: the threads that made some."""

    def __init__(self) -> None:
        super().__init__()
        self.made_by = list[threading.Thread]()

    def read(self) -> DeferredSamples:
        read = list(Turns.read(self))

        def make() -> list[Sample]:
            self.made_by.append(threading.current_thread())
            return read

        return DeferredSamples({self.metrics: make})


def test_samples_that_take_long_to_make_are_made_once_by_who_looks_at_them() -> None:
    decodes = Decodes()
    with Sampler([decodes], interval_s=0.02) as sampler:
        assert wait_until(lambda: decodes.turn >= 5, 10)
        assert len(decodes.made_by) == 1, "the first reading, which this thread asked for"
        (now,) = sampler.read_now()
    for _ in range(2):
        samples = sampler.samples
    assert [sample.value for sample in samples] == list(range(1, decodes.turn + 1))
    assert now in samples
    assert decodes.made_by == [threading.current_thread()] * decodes.turn


def test_reading_runs_on_the_given_cpus_only() -> None:
    turns = Turns()
    mine = os.sched_getaffinity(0)
    with Sampler([turns], interval_s=60, cpus=[online_cpus()[0]]):
        assert os.sched_getaffinity(0) == mine
    assert turns.cpus == {online_cpus()[0]}


def test_cpus_that_are_not_there_are_refused() -> None:
    with pytest.raises(StackcostError, match="4096"), Sampler([], 1, cpus=[4096]):
        pass


@pytest.mark.parametrize("fail_start", [False, True])
def test_a_collector_read_by_itself_is_stopped_however_it_ends(fail_start: bool) -> None:
    turns = Turns(fail_start=fail_start)
    with pytest.raises(StackcostError), turns as started:
        assert started.read() and not turns.stopped
        raise StackcostError("the reader gave up")
    assert turns.stopped == 1


class Slow(Turns):
    """Starts slowly, as one does that compiles a program on a slow host."""

    def start(self) -> None:
        time.sleep(0.5)


def test_a_slow_host_has_time_to_start_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampler_module, "READ_LIMIT_S", 0.1)
    with pytest.raises(StackcostError, match="'slow' hangs") as error, Sampler([Slow("slow")], 60):
        pass
    assert "timeout_factor" in error.value.hint
    with timeout_factor(100), Sampler([Slow("slow")], 60) as sampler:
        assert [sample.value for sample in sampler.samples] == [1]


class OfThePhase(Turns):
    """Fails where its part of a phase ends."""

    def in_phase(self, phase: Phase, on: bool) -> list[Sample]:
        if not on:
            raise OSError("the map is gone")
        return []


def test_a_collector_that_fails_in_a_phase_leaves_the_others_and_its_cause() -> None:
    with Sampler([OfThePhase("broken"), Turns("sound")], interval_s=60) as sampler:
        sampler.in_phase("sustain", True)
        sampler.in_phase("sustain", False)
        sampler.read_now()
    unknown = [each.reason for each in sampler.samples if each.value is None]
    assert unknown == ["broken: the map is gone"]
    assert [each.labels["who"] for each in sampler.samples if each.value == 2] == [
        "broken",
        "sound",
    ]
