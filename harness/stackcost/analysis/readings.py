"""A trial's samples sorted by series, cut to a phase: counters to their growth, levels to medians.

A series is one metric with one set of labels. A figure is the sum over the series that carry the
wanted labels, so `growth("cpu.time", kind="user")` is the sum over all cores. How one
series is cut at the edges of a window is said in `stackcost.analysis.window`.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator
from copy import copy
from functools import wraps
from itertools import pairwise
from typing import Any, Self, TypeVar

from stackcost.analysis import window as cutting
from stackcost.analysis.steadiness import after_warm_up
from stackcost.contracts.metrics import TREX_COUNTER
from stackcost.contracts.sample import Kind, Metric, Sample
from stackcost.contracts.trial import Trial
from stackcost.contracts.window import Window

Labels = tuple[tuple[str, str], ...]
Found = TypeVar("Found")
Cut = Callable[[cutting.Known, Window], float | None]


class Readings:
    """What one trial read. `trial`: the trial itself, for all that is not a sample.

    `phase` and `cpus`: what all figures are of: the sustain phase and the server's cores, unless
    `at` and `on` named others. Without cores, figures of cores are unknown. `phases`: its windows
    by name. Of a load by profiles the sustain window begins where the rate
    had become steady, if that is later than planned; `warm_up_s` are the seconds from the start of
    the load to there, None with too few readings and of other trials.
    """

    def __init__(self, trial: Trial, cpus: Collection[int] = ()):
        self.trial, self.phase, self.cpus = trial, "sustain", tuple(cpus)
        self._found: dict[Hashable, Any] = {}
        self._known: dict[tuple[str, Labels], cutting.Known] = {}
        self._before: dict[str, dict[float, float]] = {}
        self._metrics = _by_series(trial.samples)
        self.phases, self.warm_up_s = dict(trial.phases), None
        if "unsteady" in trial.traffic.flags:  # so a steady rate was asked for
            counters = self.samples(TREX_COUNTER)
            self.phases, self.warm_up_s = after_warm_up(trial.phases, counters)

    @property
    def window(self) -> Window | None:
        """The window of the phase; None when the trial did not reach it."""
        return self.phases.get(self.phase)

    def at(self, phase: str) -> Self:
        """The same readings in another phase."""
        return self._of(phase, self.cpus)

    def on(self, cpus: Collection[int]) -> Self:
        """The same readings on other cores."""
        return self._of(self.phase, tuple(cpus))

    def _of(self, phase: str, cpus: tuple[int, ...]) -> Self:
        if (phase, cpus) == (self.phase, self.cpus):
            return self
        if (phase, cpus) not in self._found:
            other = self._found[phase, cpus] = copy(self)
            other.phase, other.cpus, other._found = phase, cpus, {}
        return self._found[phase, cpus]  # type: ignore[no-any-return]

    def growth(self, metric: Metric, **wanted: str) -> float | None:
        """By how much counters grew in a phase, summed over the series; None when not read."""
        return self._sum(metric, cutting.growth, wanted)

    def growth_of_difference(
        self,
        metric: Metric,
        label: str,
        whole: str,
        parts: Collection[str],
        **wanted: str,
    ) -> float | None:
        """By how much one counter less some others grew, which `label` tells apart.

        A difference of counters is no counter, and falls where a part is counted first: so each
        counter is cut by itself. None when one of them was read, and its growth is not known.
        """
        grown = []
        for labels, _ in self._matching(metric, wanted | {label: whole}):
            same = dict(labels) | wanted
            others = [
                self._cut(metric, other, cutting.growth)
                for part in parts
                for other, _ in self._matching(metric, same | {label: part})
            ]
            lost = sum_of(others) if others else 0.0
            grown.append((self._cut(metric, labels, cutting.growth), lost))
        known = [of - lost for of, lost in grown if of is not None and lost is not None]
        return sum(known) if known else None

    def rate(self, metric: Metric, **wanted: str) -> float | None:
        """Growth of a counter per second of the phase."""
        grown = self.growth(metric, **wanted)
        return None if grown is None else grown / self.phases[self.phase].length

    def level(self, metric: Metric, **wanted: str) -> float | None:
        """Median level of each series in a phase, summed over the series; None when not read."""
        return self._sum(metric, cutting.level, wanted)

    def by_label(self, metric: Metric, label: str, **wanted: str) -> dict[str, float]:
        """Growth of counters, or level of gauges, per value of one label; unknown ones absent."""
        found: dict[str, float] = defaultdict(float)
        for labels, samples in self._matching(metric, wanted):
            cut = cutting.growth if samples[0].kind is Kind.COUNTER else cutting.level
            value = self._cut(metric, labels, cut)
            if value is not None:
                found[dict(labels).get(label, "")] += value
        return dict(found)

    def samples(self, *metrics: Metric) -> list[Sample]:
        """All samples of some metrics."""
        return [s for metric in metrics for _, part in self._matching(metric, {}) for s in part]

    def series(self, metric: Metric, **wanted: str) -> list[list[Sample]]:
        """The samples of each series of a metric, in order of reading."""
        return [samples for _, samples in self._matching(metric, wanted)]

    def why_unknown(self, metric: Metric) -> str:
        """The reason a collector gave for not knowing a metric; empty when it gave none."""
        reasons = (sample.reason for sample in self.samples(metric))
        return next((reason for reason in reasons if reason), "")

    def _sum(self, metric: Metric, cut: Cut, wanted: dict[str, str]) -> float | None:
        series = self._matching(metric, wanted)
        values = [self._cut(metric, labels, cut) for labels, _ in series]
        known = [value for value in values if value is not None]
        return sum(known) if known else None

    def _cut(self, metric: Metric, labels: Labels, cut: Cut) -> float | None:
        if self.window is None:
            return None
        key = metric.name, labels
        if key not in self._known:
            samples = self._metrics[metric.name][labels]
            if samples[0].kind is Kind.COUNTER:
                samples = self.from_zero(metric, sorted(samples, key=lambda each: each.time))
            self._known[key] = cutting.known_values(samples)
        return cut(self._known[key], self.window)

    def from_zero(self, metric: Metric, samples: list[Sample]) -> list[Sample]:
        """The samples of one counter, in order of reading; of one that began meanwhile with zeros
        before them: at the last reading without it, and at the start of the first phase.

        It began after a reading before its first sample that lacked it, and had others that were
        read with it and known. Without such a reading it may have been there before.
        """
        if metric.name not in self._before:
            before = self._before[metric.name] = dict[float, float]()
            for series in self._metrics[metric.name].values():
                moments = sorted(sample.time for sample in series if sample.value is not None)
                for earlier, moment in pairwise(moments):
                    before[moment] = max(earlier, before.get(moment, earlier))
        last = self._before[metric.name].get(samples[0].time)
        if last is None:
            return samples
        start = min([last, *(window.start for window in self.phases.values())])
        zeros = [samples[0]._replace(time=at, value=0.0) for at in sorted({start, last})]
        return zeros + samples

    def _matching(
        self, metric: Metric, wanted: dict[str, str]
    ) -> Iterator[tuple[Labels, list[Sample]]]:
        for labels, samples in self._metrics.get(metric.name, {}).items():
            if wanted.items() <= dict(labels).items():
                yield labels, samples


def sum_of(parts: Collection[float | None]) -> float | None:
    """The sum; None if one of the values is unknown."""
    known = [part for part in parts if part is not None]
    return sum(known) if known and len(known) == len(parts) else None


def kept(find: Callable[[Readings], Found]) -> Callable[[Readings], Found]:
    """A function whose result is kept with the readings: many figures rest on the same one."""

    @wraps(find)
    def of(readings: Readings) -> Found:
        if find not in readings._found:
            readings._found[find] = find(readings)
        return readings._found[find]  # type: ignore[no-any-return]

    return of


def _by_series(samples: list[Sample]) -> dict[str, dict[Labels, list[Sample]]]:
    """The samples of each metric and each of its sets of labels, in order of reading.

    The samples of a stored trial share the dicts of their labels, and are sorted by these first.
    """
    shared: dict[tuple[str, int], list[Sample]] = defaultdict(list)
    for sample in samples:
        shared[sample.metric, id(sample.labels)].append(sample)
    found: dict[str, dict[Labels, list[Sample]]] = defaultdict(lambda: defaultdict(list))
    for (metric, _), part in shared.items():
        found[metric][tuple(sorted(part[0].labels.items()))] += part
    return found
