"""How steady a rate was, and where its warm-up ended, from a trial's own series of readings."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from stackcost.contracts.load.base import CLOSED, NOT_COMPLETED, completed_of
from stackcost.contracts.sample import Sample
from stackcost.contracts.window import Window

FEWEST = 5  # intervals between readings below which nothing is said
USUAL = 3.0  # standard deviations of the series' second half: a rate within is no warm-up
NEGLIGIBLE = 0.02  # of the mean: nor is a rate within this
CLOSEST_S = 0.1  # an edge may be read right after the sampler's own turn

Counted = Sequence[tuple[float, float]]  # (seconds, counter), ascending


class Steadiness(NamedTuple):
    """How steady a rate was in a window, from the readings of its counter; all without a unit.

    `correlation`: Pearson's, of the running count with time, as neper prints it; 1 is steady.
    `variation`: standard deviation of the intervals' rates as a share of their mean.
    `drift`: growth of the rate by its least-squares line from the window's first reading to its
    last, as a share of the mean. `intervals`: how many rates there were.
    """

    correlation: float
    variation: float
    drift: float
    intervals: int


def completed_series(samples: Iterable[Sample], window: Window) -> list[tuple[float, float]]:
    """The generator's running count of completed connections at each reading inside a window.

    `samples`: those of "trex.counter".
    """
    counted = list(samples)
    names = (CLOSED, *NOT_COMPLETED)
    counts = {name: dict(counter_series(counted, window, name)) for name in names}

    def completed(at: float) -> float:
        return completed_of(lambda name: counts[name].get(at, 0.0))

    return [(at, completed(at)) for at in counts[CLOSED]]


def counter_series(
    samples: Iterable[Sample], window: Window, counter: str
) -> list[tuple[float, float]]:
    """A counter of the generator's clients at each reading inside a window.

    `samples`: those of "trex.counter".
    """
    wanted = {"engine": "generator", "side": "client", "counter": counter}
    return served_series((s for s in samples if wanted.items() <= s.labels.items()), window)


def served_series(samples: Iterable[Sample], window: Window) -> list[tuple[float, float]]:
    """The server's own running count of requests at each reading inside a window.

    `samples`: those of "server.requests".
    """
    return sorted(
        (sample.time, sample.value)
        for sample in samples
        if sample.value is not None and window.start <= sample.time <= window.end
    )


def after_warm_up(
    phases: Mapping[str, Window], samples: Iterable[Sample]
) -> tuple[dict[str, Window], float | None]:
    """A load trial's phases, the sustain window beginning where its rate had become steady if that
    is later than planned; and the seconds from the start of the load to there, None when there are
    too few readings to say.

    `phases`: as their edges were read. `samples`: those of "trex.counter".
    """
    warm_up, sustain = phases.get("warm-up"), phases.get("sustain")
    if warm_up is None or sustain is None:
        return dict(phases), None
    found = warm_up_end(completed_series(samples, Window(warm_up.start, sustain.end)))
    if found is None:
        return dict(phases), None
    edge = max(found, sustain.start)
    cut = {"warm-up": Window(warm_up.start, edge), "sustain": Window(edge, sustain.end)}
    return {**phases, **cut}, found - warm_up.start


def steadiness(series: Counted) -> Steadiness | None:
    """None with fewer than five intervals, and when nothing was counted."""
    rates = _rates(series)
    if len(rates) < FEWEST or not np.isfinite(rates).all() or not np.mean(rates):
        return None
    times, counts = np.array(apart(series), dtype=float).T
    middles = (times[1:] + times[:-1]) / 2
    slope = np.polyfit(middles - middles[0], rates, 1)[0]
    mean = float(np.mean(rates))
    return Steadiness(
        correlation=float(np.corrcoef(times, counts)[0, 1]),
        variation=float(np.std(rates, ddof=1)) / mean,
        drift=float(slope * (times[-1] - times[0])) / mean,
        intervals=len(rates),
    )


def warm_up_end(series: Counted) -> float | None:
    """The moment from which the rate is steady; None when the series is too short to say.

    By the marginal standard error rule (K. P. White, "An effective truncation heuristic for bias
    reduction in simulation output", Simulation 69, 1997): the beginning is cut where the squared
    standard error of what is left is least, as the rule has it never beyond the middle. Rates
    before the cut that are as the later ones are kept.
    """
    rates = np.array(_rates(series))
    if len(rates) < FEWEST or not np.isfinite(rates).all():
        return None
    errors = [np.var(rates[cut:]) / (len(rates) - cut) for cut in range(len(rates) // 2 + 1)]
    cut = int(np.argmin(errors))
    mean, noise = np.mean(rates[cut:]), np.std(rates[len(rates) // 2 :], ddof=1)
    usual = max(USUAL * noise, NEGLIGIBLE * mean)
    while cut and abs(rates[cut - 1] - mean) <= usual:  # noise alone makes the rule cut too much
        cut -= 1
    return apart(series)[cut][0]


def _rates(series: Counted) -> list[float]:
    return [(b - a) / (then - now) for (now, a), (then, b) in pairwise(apart(series))]


def apart(series: Counted) -> list[tuple[float, float]]:
    """The readings without those that follow another too closely to give a rate."""
    kept: list[tuple[float, float]] = []
    for reading in series:
        if not kept or reading[0] - kept[-1][0] >= CLOSEST_S:
            kept.append(reading)
    return kept
