"""The parts of a trial in which nothing outside the machine slowed the server's cores.

Other load on the host changes within a second, so that hardly any trial is free of it, but
many slices of 0.1 s are. They are chosen by the duration of a piece of known work, never
by the server's own time. The effect of other load on shared caches and memory remains in them; the
time of a read from there shows how large it is.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stackcost.analysis.cost.core_time import BUSY_PARTS, has_peer, own_series
from stackcost.analysis.cost.flows import completed_rate, kept_up
from stackcost.analysis.cost.slowed import least_seconds, slowed_share
from stackcost.analysis.readings import Readings, kept
from stackcost.analysis.trial.thresholds import SLOWED_LIMIT, UNDISTURBED_LEAST_S
from stackcost.contracts.metrics import CORE_WORK_COUNT, CORE_WORK_TIME
from stackcost.contracts.sample import Sample


class Undisturbed(NamedTuple):
    """Of all such slices together; all numbers are 0 of no slice.

    `scale`: by kind of the server's time, how much of it was taken in them per second, over the
    whole sustain window's. `slowed`: by how much the known work still took longer than its least.
    """

    seconds: float
    scale: dict[str, float]
    slowed: float

    @property
    def enough(self) -> bool:
        """Whether there is enough undisturbed time for the server's cost."""
        return self.seconds >= UNDISTURBED_LEAST_S


@kept
def undisturbed(readings: Readings) -> Undisturbed | None:
    """None of a trial that was not read often, as a TRex's is not, of one of a search, which is
    judged by what it lost whenever that was, and where the server did not keep up with its load.

    What such a server completes is less while it is slowed, and when it did is not known.
    """
    own, edges = own_series(readings), _edges(readings)
    rate, offered = completed_rate(readings), readings.trial.offered_cps
    requests = readings.trial.traffic.unit == "request"
    if requests or not offered or rate is None or not kept_up(rate, offered):
        return None
    if has_peer(readings) and "busy" not in own:
        return None
    if not own or len(edges) < 2:
        return None
    slowed = np.max([_slowed(readings, each, edges) for each in readings.cpus], axis=0)
    good = slowed <= SLOWED_LIMIT
    lengths = np.diff(edges)
    seconds = float(lengths[good].sum())
    if not seconds:
        return Undisturbed(0.0, {}, 0.0)
    taken = {
        kind: np.sum([np.diff(_at(each, edges)) for each in series], axis=0)
        for kind, series in own.items()
    }
    if "sending" in taken:
        taken["stack"] = taken["busy"] - sum(taken[part] for part in BUSY_PARTS if part in taken)
    if "task" in taken:
        taken["user"] = taken["system"] = taken["task"]
    share = seconds / float(lengths.sum())
    return Undisturbed(
        seconds,
        {
            kind: float(part[good].sum() / part.sum()) / share
            for kind, part in taken.items()
            if part.sum()
        },
        float(np.average(slowed[good], weights=lengths[good])),
    )


def slowed_by(readings: Readings) -> float | None:
    """By how much longer than its minimum the known work took during the time of a trial's cost."""
    found = undisturbed(readings)
    return found.slowed if found and found.enough else slowed_share(readings)


def _edges(readings: Readings) -> np.ndarray:
    """Moments in the sustain window at which the speed of all cores was known."""
    window = readings.phases.get("sustain")
    times = [[s.time for part in _work(readings, each) for s in part] for each in readings.cpus]
    if not window or not times or not all(times):
        return np.array([])
    moments = np.array(min(times, key=len))
    return np.unique(moments[(window.start <= moments) & (moments <= window.end)])


def _work(readings: Readings, core: int) -> list[list[Sample]]:
    return readings.series(CORE_WORK_TIME, cpu=str(core))


def _slowed(readings: Readings, core: int, edges: np.ndarray) -> np.ndarray:
    """By slice; infinite where the work was not done."""
    (spent,), (count,) = _work(readings, core), readings.series(CORE_WORK_COUNT, cpu=str(core))
    done = np.diff(_at(count, edges))
    least = least_seconds(readings, core)
    with np.errstate(divide="ignore", invalid="ignore"):
        slowed = np.diff(_at(spent, edges)) / done / (least or np.nan) - 1
    return np.where(np.isfinite(slowed), slowed, np.inf)


def _at(series: Sequence[Sample], edges: np.ndarray) -> np.ndarray:
    """A counter at the edges; between two readings it grows evenly."""
    known = [(sample.time, sample.value) for sample in series if sample.value is not None]
    times, values = zip(*known, strict=True) if known else ((0.0,), (0.0,))
    return np.interp(edges, times, values)
