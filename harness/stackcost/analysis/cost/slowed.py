"""Whether something outside of this machine made the server's cores slower during a trial."""

from stackcost.analysis.readings import Readings
from stackcost.contracts import metrics
from stackcost.contracts.sample import Metric

NANOSECONDS = 1e9


def slowed_share(readings: Readings) -> float | None:
    """By how much longer a piece of known work took than it can: 0.1 is a tenth; mean of the cores.

    It can take as little as it ever did since the server was started. None when not read.
    """
    shares = [_of_core(readings, cpu) for cpu in readings.cpus]
    known = [share for share in shares if share is not None]
    return sum(known) / len(known) if known and len(known) == len(shares) else None


def mean_nanoseconds(readings: Readings, metric: Metric) -> float | None:
    """Of one read from beyond a core's own caches, or of two known system calls, by the metric of
    their time: mean of the cores; None when not read.
    """
    spent, count = readings.growth(metric), readings.growth(metrics.CORE_WORK_COUNT)
    return spent / count * NANOSECONDS if spent is not None and count else None


def _of_core(readings: Readings, cpu: int) -> float | None:
    spent, count = (
        readings.growth(metric, cpu=str(cpu))
        for metric in (metrics.CORE_WORK_TIME, metrics.CORE_WORK_COUNT)
    )
    least = least_seconds(readings, cpu)
    if spent is None or not count or not least:
        return None
    # The end of a window, that is in no whole block yet, may have been faster than any block was.
    return max(spent / count / least - 1, 0.0)


def least_seconds(readings: Readings, cpu: int) -> float | None:
    """The least that the piece of known work took on a core since the server was started."""
    return min(
        (
            sample.value
            for sample in readings.samples(metrics.CORE_WORK_LEAST)
            if sample.labels.get("cpu") == str(cpu) and sample.value is not None
        ),
        default=None,
    )
