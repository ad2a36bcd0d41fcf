"""The parts of a trial in which nothing outside of the machine slowed the server's cores.

A neighbour on the host comes and goes within a second, so that hardly a trial is free of it, but
many slices of a tenth of a second are. They are chosen by the time of a piece of known work, never
by what the server took. What neighbours on other cores take of the caches and of the memory that
all share stays in them; how long a load from there takes tells how much that is (`same_memory`).
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from harness.analysis import cpu
from harness.analysis.checks import SLOWED_LIMIT
from harness.analysis.readings import Readings
from harness.analysis.slowed import least_seconds
from harness.model import Sample

OFTEN = ("cpu account", "core speed")  # collectors that are read at the edges of the slices
SLICE_S = 0.1
LEAST_S = 1.0  # with less, a trial is disturbed


class Undisturbed(NamedTuple):
    """Of all such slices together. `busy`: the share of the cores' time that the server took.

    `slowed`: by how much the known work still took longer than its least. `load_s`: what a load
    from beyond a core's own caches took; None when not read. All are 0 of no slice.
    """

    seconds: float
    busy: float
    slowed: float
    load_s: float | None


def undisturbed(seen: Readings, cpus: Collection[int]) -> Undisturbed | None:
    """None when it was not read often, and for peers that poll."""
    own = cpu.own_series(seen, cpus)
    edges = _edges(seen, cpus)
    if cpu.engine_busy_seconds(seen, "peer") is not None or not own or len(edges) < 2:
        return None
    slowed = np.max([_slowed(seen, each, edges) for each in cpus], axis=0)
    good = slowed <= SLOWED_LIMIT
    lengths = np.diff(edges)
    seconds = float(lengths[good].sum())
    if not seconds:
        return Undisturbed(0.0, 0.0, 0.0, 0.0)
    busy = np.sum([np.diff(_at(series, edges)) for series in own], axis=0)
    return Undisturbed(
        seconds,
        float(busy[good].sum()) / seconds / len(cpus),
        float(np.average(slowed[good], weights=lengths[good])),
        _load_seconds(seen, cpus, edges, good),
    )


def _edges(seen: Readings, cpus: Collection[int]) -> np.ndarray:
    """Moments within the sustain window at which the speed of all cores was known."""
    window = seen.trial.phases["sustain"]
    times = [[s.time for part in _work(seen, each) for s in part] for each in cpus]
    if not all(times):
        return np.array([])
    moments = np.array(min(times, key=len))
    return np.unique(moments[(window.start <= moments) & (moments <= window.end)])


def _work(seen: Readings, core: int) -> list[list[Sample]]:
    return seen.series("core.work_time", cpu=str(core))


def _slowed(seen: Readings, core: int, edges: np.ndarray) -> np.ndarray:
    """By slice; infinite where the work was not done."""
    (spent,), (count,) = _work(seen, core), seen.series("core.work_count", cpu=str(core))
    done = np.diff(_at(count, edges))
    least = least_seconds(seen, core)
    with np.errstate(divide="ignore", invalid="ignore"):
        slowed = np.diff(_at(spent, edges)) / done / (least or np.nan) - 1
    return np.where(np.isfinite(slowed), slowed, np.inf)


def _load_seconds(
    seen: Readings, cpus: Collection[int], edges: np.ndarray, good: np.ndarray
) -> float | None:
    """Mean over the loads of all cores in the slices that are good."""
    spent, done = (
        [
            np.diff(_at(series, edges))[good].sum()
            for each in cpus
            for series in seen.series(metric, cpu=str(each))
        ]
        for metric in ("core.load_time", "core.work_count")
    )
    return float(sum(spent) / sum(done)) if len(spent) == len(cpus) and sum(done) else None


def _at(series: Sequence[Sample], edges: np.ndarray) -> np.ndarray:
    """A counter at the edges; between two readings it grows evenly."""
    known = [(sample.time, sample.value) for sample in series if sample.value is not None]
    times, values = zip(*known, strict=True) if known else ((0.0,), (0.0,))
    return np.interp(edges, times, values)
