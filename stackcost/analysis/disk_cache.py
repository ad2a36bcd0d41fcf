"""Figures of a cache on disk in a trial: hits, what the disk gave, and who waited for it."""

from collections.abc import Sequence

from stackcost.analysis import http
from stackcost.analysis.readings import Readings
from stackcost.analysis.spread import spread
from stackcost.analysis.summary import CacheFigures

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


def cache_figures(trials: Sequence[Readings]) -> CacheFigures | None:
    """Of all rounds; None of a server that is no cache."""
    ended = [seen for seen in trials if SUSTAIN in seen.phases]
    if not any(seen.samples("cache.misses") for seen in ended):
        return None
    waits = [blocked(seen) for seen in ended]
    states = [seen.trial.before for seen in ended]
    return CacheFigures(
        hit_ratio=spread([hit_ratio(seen) for seen in ended], "1"),
        disk_share=spread([disk_share(seen) for seen in ended], "1"),
        blocked={
            part: spread([found.get(part) for found in waits], "s/s")
            for part in dict.fromkeys(part for found in waits for part in found)
        },
        warm_at_start=spread([state.get("page_cache_bytes") for state in states], "B"),
    )
