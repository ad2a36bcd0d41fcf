"""Figures of a cache on disk in a trial: hits, what the disk gave, and who waited for it."""

from stackcost.analysis import http
from stackcost.analysis.readings import Readings

SUSTAIN = "sustain"


def hit_ratio(seen: Readings) -> float | None:
    """Share (0 to 1) of the requests that the origin did not get, both by the servers' counts."""
    served = seen.growth("server.requests", SUSTAIN)
    missed = seen.growth("cache.misses", SUSTAIN)
    return None if not served or missed is None else max(0.0, 1 - missed / served)


def disk_share(seen: Readings) -> float | None:
    """Bytes that the processes had read from disks by bytes that clients received, both per second.

    Above 1 where the kernel reads ahead more than is asked for.
    """
    read = seen.rate("process.disk_read", SUSTAIN)
    received = http.sum_over_clients(seen.trial, "bits_per_second")
    return None if read is None or not received else 8 * read / received


def blocked(seen: Readings) -> dict[str, float]:
    """Seconds per second that threads were blocked, by part: "event loop", "thread pool".

    Of an event loop at most 1 for each worker; of a pool at most 1 for each of its threads.
    """
    length = seen.phases[SUSTAIN].length
    waited = seen.by_label("thread.blocked_time", SUSTAIN, "part")
    return {part: seconds / length for part, seconds in waited.items()}
