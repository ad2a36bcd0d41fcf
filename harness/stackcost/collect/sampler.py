"""Reads all collectors, at an interval and on demand at the edges of a window."""

import contextlib
import math
import os
import queue
import threading
import time
from collections.abc import Collection, Sequence
from concurrent.futures import Future
from typing import Self

from stackcost.contracts.collector import Collector, Phase, Reading
from stackcost.contracts.errors import StackcostError, words_of
from stackcost.contracts.sample import Sample
from stackcost.host.cores import online_cpus
from stackcost.host.timeouts import on_a_slow_host, scaled_timeout

# For all collectors at once. They take some tens of milliseconds; one that asks a server which does
# not answer gives up after 5 s, one that asks a generator after 12 s.
READ_LIMIT_S = 60.0


class Sampler:
    """A context manager: inside, a thread reads the collectors every `interval_s` seconds.

    `cpus`: where it may run, so that reading never takes time from the server's cores; all when
    empty. `readings`: everything read so far, in order of reading. A collector that fails to start
    or to read does not end the run: its metrics are recorded as unknown, with the reason.
    """

    def __init__(
        self, collectors: Sequence[Collector], interval_s: float, cpus: Collection[int] = ()
    ):
        self.readings: list[Reading] = []
        self._samples: list[Sample] = []
        self._made = 0  # readings of which `_samples` has the samples
        self._making = threading.Lock()
        self._collectors = collectors
        self._interval = interval_s
        self._often = math.inf
        self._cpus = cpus
        self._failed: dict[Collector, str] = {}
        self._reading = "none"
        self._requests: queue.Queue[Future[list[Reading]] | None] = queue.Queue()
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)

    def __enter__(self) -> Self:
        if not set(self._cpus) <= set(online_cpus()):
            raise StackcostError(f"sampler: CPUs {sorted(self._cpus)} are not all online")
        self._thread.start()
        self.read_now()
        return self

    def __exit__(self, *_: object) -> None:
        self._requests.put(None)
        self._thread.join(READ_LIMIT_S)  # a daemon thread: one that hangs ends with the program

    @property
    def samples(self) -> list[Sample]:
        """Everything read so far, in order of reading; to make samples of it takes time."""
        with self._making:
            for each in self.readings[self._made :]:
                self._samples += each.samples
                self._made += 1
        return self._samples

    def read_now(self) -> list[Sample]:
        """Read everything now and return it; for the edges of a window."""
        request: Future[list[Reading]] = Future()
        self._requests.put(request)
        try:
            readings = request.result(scaled_timeout(READ_LIMIT_S))
            return [sample for each in readings for sample in each.samples]
        except TimeoutError:
            raise StackcostError(
                f"reading did not end within {scaled_timeout(READ_LIMIT_S):g} s: the collector "
                f"{self._reading!r} hangs",
                on_a_slow_host(),
            ) from None

    def read_often(self, interval_s: float) -> None:
        """From the next reading on, read those that are read often at this interval, too."""
        self._often = interval_s

    def in_phase(self, phase: Phase, on: bool) -> None:
        """Begin or end what the collectors read in this phase of a trial only. What one that fails
        would have read is unknown.
        """
        for collector in self._collectors:
            try:
                read: Sequence[Sample] = collector.in_phase(phase, on)
            except Exception as error:
                read = _unknown(collector, f"{collector.name}: {words_of(error)}")
            if read:
                self.readings.append(Reading(collector, read))

    def _run(self) -> None:
        if self._cpus:
            os.sched_setaffinity(0, self._cpus)  # of this thread, and of what collectors start
        with contextlib.ExitStack() as stack:
            for collector in self._collectors:
                stack.callback(collector.stop)
                self._start(collector)
            self._serve()

    def _serve(self) -> None:
        due = soon = time.monotonic() + self._interval
        while True:
            request: Future[list[Reading]] | None = Future()  # a periodic one: nobody waits for it
            every = True
            try:
                request = self._requests.get(timeout=max(0.0, min(due, soon) - time.monotonic()))
            except queue.Empty:
                if time.monotonic() < due:
                    every = False
            if request is None:
                return
            wanted = [each for each in self._collectors if every or each.often]
            readings = [Reading(each, self._read(each)) for each in wanted]
            self.readings += readings
            request.set_result(readings)
            soon = time.monotonic() + self._often
            if every:
                due = max(due, time.monotonic() - self._interval) + self._interval

    def _start(self, collector: Collector) -> None:
        self._reading = collector.name
        try:
            collector.start()
        except Exception as error:
            self._failed[collector] = words_of(error)

    def _read(self, collector: Collector) -> Sequence[Sample]:
        self._reading = collector.name
        reason = self._failed.get(collector)
        if reason is None:
            try:
                return collector.read()
            except Exception as error:
                reason = f"{collector.name}: {words_of(error)}"
        return _unknown(collector, reason)


def _unknown(collector: Collector, reason: str) -> list[Sample]:
    now = time.monotonic()
    return [metric.unknown(now, reason) for metric in collector.metrics]
