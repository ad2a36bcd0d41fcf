"""Reads all collectors, at an interval and on demand at the edges of a window."""

import contextlib
import os
import queue
import threading
import time
from collections.abc import Collection, Sequence
from concurrent.futures import Future
from typing import Self

from harness.collect.cpu import online_cpus
from harness.errors import StackcostError
from harness.model import Collector, Sample


class Sampler:
    """A context manager: inside, a thread reads the collectors every `interval_s` seconds.

    `cpus`: where it may run, so that reading never takes time from the server's cores; all when
    empty. `samples`: everything read so far, in order of reading. A collector that fails to start
    or to read does not end the run: its metrics are recorded as unknown, with the reason.
    """

    def __init__(
        self, collectors: Sequence[Collector], interval_s: float, cpus: Collection[int] = ()
    ):
        self.samples: list[Sample] = []
        self._collectors = collectors
        self._interval = interval_s
        self._cpus = cpus
        self._failed: dict[str, str] = {}
        self._requests: queue.Queue[Future[list[Sample]] | None] = queue.Queue()
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)

    def __enter__(self) -> Self:
        if not set(self._cpus) <= set(online_cpus()):
            raise StackcostError(f"sampler: CPUs {sorted(self._cpus)} are not all online")
        self._thread.start()
        self.read_now()
        return self

    def __exit__(self, *_: object) -> None:
        self._requests.put(None)
        self._thread.join()

    def read_now(self) -> list[Sample]:
        """Read everything and return it once it is read; for the edges of a window."""
        request: Future[list[Sample]] = Future()
        self._requests.put(request)
        return request.result()

    def _run(self) -> None:
        if self._cpus:
            os.sched_setaffinity(0, self._cpus)  # of this thread, and of what collectors start
        with contextlib.ExitStack() as stack:
            for collector in self._collectors:
                stack.callback(collector.stop)
                self._start(collector)
            self._serve()

    def _serve(self) -> None:
        due = time.monotonic() + self._interval
        while True:
            request: Future[list[Sample]] | None = Future()  # a periodic one: nobody waits for it
            with contextlib.suppress(queue.Empty):
                request = self._requests.get(timeout=max(0.0, due - time.monotonic()))
            if request is None:
                return
            read = [sample for each in self._collectors for sample in self._read(each)]
            self.samples += read
            request.set_result(read)
            due = max(due, time.monotonic() - self._interval) + self._interval

    def _start(self, collector: Collector) -> None:
        try:
            collector.start()
        except Exception as error:
            self._failed[collector.name] = str(error)

    def _read(self, collector: Collector) -> list[Sample]:
        reason = self._failed.get(collector.name)
        if reason is None:
            try:
                return collector.read()
            except Exception as error:
                reason = f"{collector.name}: {error or type(error).__name__}"
        now = time.monotonic()
        return [metric.unknown(now, reason) for metric in collector.metrics]
