"""Times of connections of several trials together, and by second."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hdrh.histogram import HdrHistogram

from stackcost.contracts.counts import Histograms
from stackcost.contracts.latency import HIGHEST_US, SIGNIFICANT_FIGURES
from stackcost.contracts.trial import Trial


class Of(NamedTuple):
    """Whose times: one system at one load. `test`: of HTTP clients; else empty. `group`: the
    template group; empty: none. `kind`: such as "completion".
    """

    system: str
    test: str
    offered_cps: float
    group: str
    kind: str


class Part(NamedTuple):
    """Times that were recorded from `start` to `end`, seconds from the start of its trial's
    sustain window.
    """

    of: Of
    trial: Trial
    start: float
    end: float
    times: HdrHistogram


def merged(trials: Iterable[Trial]) -> dict[Of, HdrHistogram]:
    """The times of all trials of each system at each load in one histogram, microseconds.

    A percentile of it is of all connections. It is not the mean of the trials' percentiles.
    """
    found: dict[Of, HdrHistogram] = {}
    for trial in trials:
        for of, text in _each(trial, trial.traffic.latency or {}):
            if of not in found:
                found[of] = HdrHistogram(1, HIGHEST_US, SIGNIFICANT_FIGURES)
            found[of].decode_and_add(text)
    return found


def by_second(trials: Iterable[Trial]) -> Iterator[Part]:
    """Histograms of each second of each trial; none of trials that were stored without."""
    for trial in trials:
        for second in trial.traffic.seconds:
            since = trial.phases["sustain"].start
            for of, text in _each(trial, second.latency):
                times = HdrHistogram.decode(text)
                yield Part(of, trial, second.start - since, second.end - since, times)


def recorded(times: HdrHistogram) -> Iterator[tuple[float, int]]:
    """Each recorded value, microseconds, known to 0.8 %, and how many had it."""
    for item in times.get_recorded_iterator():
        yield float(item.value_iterated_to), item.count_added_in_this_iter_step


def _each(trial: Trial, histograms: Histograms) -> Iterator[tuple[Of, str]]:
    load = trial.traffic
    for group, kinds in histograms.items():
        for kind, text in kinds.items():
            yield Of(trial.server, load.test, trial.offered_cps, group, kind), text
