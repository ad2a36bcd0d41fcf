"""What the newest samples say of the last second: rates, times, cores, memory.

These are for the eye. Figures come from whole windows, with their checks, when a trial is over.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from stackcost.contracts.collector import Reading
from stackcost.contracts.load.base import ATTEMPTED, CLOSED, FAILED, completed_of
from stackcost.contracts.metrics import CPU_EXACT_TIME, ENGINE_LATENCY, SLAB_BYTES, TREX_COUNTER
from stackcost.contracts.sample import DeferredSamples, Sample

Series = tuple[str, ...]  # a metric, and the values of its labels
CACHES = 8
SOCKETS = re.compile("TCP|sock|skbuff")  # in names of slab caches: of sockets and their frames
COUNTERS = TREX_COUNTER.name
TIMED = "completion"
SHOWN = frozenset((ATTEMPTED, CLOSED, *FAILED))  # of some 200 of each reading


@dataclass(slots=True)
class Second:
    """One reading of everything, beside the one before it.

    Rates are in connections/s, `latency_us` by percentile, `cores` in shares of each core's time by
    kind, `slab` in bytes by cache, the largest. None or empty: not read, or nothing came to an end.
    `busy_us_per_connection`: time of the server's cores, busy with anything, per completed
    connection: no figure of a run is that, as other programs are in it.
    """

    attempted: float | None = None
    completed: float | None = None
    failed: dict[str, float] = field(default_factory=dict)
    latency_us: dict[str, float] = field(default_factory=dict)
    cores: dict[str, dict[str, float]] = field(default_factory=dict)
    busy_us_per_connection: float | None = None
    slab: dict[str, float] = field(default_factory=dict)


class LiveRates:
    """Keeps the newest sample of each series of the few metrics that are shown, in one trial."""

    METRICS = frozenset(
        each.name for each in (TREX_COUNTER, ENGINE_LATENCY, CPU_EXACT_TIME, SLAB_BYTES)
    )

    def __init__(self, server_cpus: Collection[int]):
        self._server = {str(cpu) for cpu in server_cpus}
        self._before: dict[Series, Sample] = {}
        self._last = Second()

    @classmethod
    def shown(cls, reading: Reading) -> Iterable[Sample]:
        """Its samples, if there are some that are shown. Others are not looked at."""
        collector, samples = reading
        if collector and not any(each.name in cls.METRICS for each in collector.metrics):
            return ()
        return samples.of(cls.METRICS) if isinstance(samples, DeferredSamples) else samples

    @property
    def in_trial(self) -> bool:
        """Whether there is a reading of this trial already."""
        return bool(self._before)

    def begin_trial(self) -> Second:
        """Forget the rates and times of the trial before: none is of two trials, or of the time
        between. What cores did and what caches hold stays until it is read again.
        """
        self._before.clear()
        self._last = Second(cores=self._last.cores, slab=self._last.slab)
        return self._last

    def second(self, samples: Sequence[Sample]) -> Second:
        """What the samples since the last call say; of what was not read again, the same as then.

        Trials of a search are read at their edges only.
        """
        newest = self._by_series(samples)
        if not self._before:  # a trial begins: two edges may come at once
            self._before = self._by_series(reversed(samples))
        found = self._of(newest)
        self._before.update(newest)
        self._last = found
        return found

    def _by_series(self, samples: Iterable[Sample]) -> dict[Series, Sample]:
        """The last one of each series."""
        return {
            (sample.metric, *sample.labels.values()): sample
            for sample in samples
            if sample.metric in self.METRICS
            and sample.value is not None
            and (sample.metric != COUNTERS or sample.labels["counter"] in SHOWN)
        }

    def _of(self, newest: Mapping[Series, Sample]) -> Second:
        found, rates, busy = Second(), dict[str, float](), 0.0
        read = {series[0] for series in newest}
        if SLAB_BYTES.name not in read:
            found.slab = self._last.slab
        if ENGINE_LATENCY.name not in read:
            found.latency_us = self._last.latency_us
        for series, sample in newest.items():
            metric, labels, value = sample.metric, sample.labels, sample.value or 0.0
            if metric == SLAB_BYTES.name:
                found.slab[labels["cache"]] = value
                continue
            earlier = self._before.get(series)
            if earlier is None or sample.time <= earlier.time:
                continue  # the first reading of a trial: times, too, are of what was before it
            if metric == ENGINE_LATENCY.name:
                if labels["kind"] == TIMED:
                    name = labels["percentile"]
                    found.latency_us[name] = max(value * 1e6, found.latency_us.get(name, 0.0))
                continue
            grown = value - (earlier.value or 0.0)
            if grown < 0:
                continue  # a counter that began anew
            rate = grown / (sample.time - earlier.time)
            if metric == CPU_EXACT_TIME.name:
                found.cores.setdefault(labels["cpu"], {})[labels["kind"]] = rate
                if labels["cpu"] in self._server and not labels["kind"].startswith("idle"):
                    busy += rate
            elif (labels["engine"], labels["side"]) == ("generator", "client"):
                rates[labels["counter"]] = rate
        if CLOSED in rates:
            found.attempted = rates.get(ATTEMPTED, 0.0)
            found.completed = max(0.0, completed_of(lambda name: rates.get(name, 0.0)))
            found.failed = {name: rates[name] for name in FAILED if rates.get(name)}
            if found.completed and busy:
                found.busy_us_per_connection = busy * 1e6 / found.completed
        else:
            found.attempted, found.completed = self._last.attempted, self._last.completed
            found.failed, found.busy_us_per_connection = (
                self._last.failed,
                self._last.busy_us_per_connection,
            )
        found.cores = found.cores or self._last.cores
        largest = sorted(found.slab.items(), key=lambda of: (not SOCKETS.search(of[0]), -of[1]))[
            :CACHES
        ]
        found.slab = dict(largest)
        return found
