"""Figures that only some systems have: Onload's polls, a cache on disk, several generators."""

from collections.abc import Callable
from functools import partial

from stackcost.analysis.cost import generators, http
from stackcost.analysis.figures.figure import Figure, Values
from stackcost.analysis.figures.groups import LoadTrials, Read
from stackcost.analysis.readings import Readings
from stackcost.contracts import metrics

SUSTAIN = "sustain"
EVENTS_OF = "onload.counter {}"


def is_onload(readings: Readings) -> bool:
    """Whether a program of the trial was on Onload."""
    return bool(readings.samples(metrics.ONLOAD_COUNTER))


def hit_ratio(readings: Readings) -> float | None:
    """Share (0 to 1) of the requests that the origin did not get, both by the servers' counts."""
    served = readings.growth(metrics.SERVER_REQUESTS)
    missed = readings.growth(metrics.CACHE_MISSES)
    return None if not served or missed is None else max(0.0, 1 - missed / served)


def disk_share(readings: Readings) -> float | None:
    """Bytes that the processes had read from disks by bytes that clients received, both per second.

    Above 1 where the kernel reads ahead more than is asked for.
    """
    read = readings.rate(metrics.PROCESS_DISK_READ)
    received = http.sum_over_clients(readings.trial, "bits_per_second")
    return None if read is None or not received else 8 * read / received


def blocked(readings: Readings) -> dict[str, float]:
    """Seconds per second that threads were blocked, by part: "event loop", "thread pool".

    Of an event loop at most 1 for each worker; of a pool at most 1 for each of its threads.
    """
    length = readings.phases[SUSTAIN].length
    waited = readings.by_label(metrics.THREAD_BLOCKED_TIME, "part")
    return {part: seconds / length for part, seconds in waited.items()}


def _onload(loads: LoadTrials) -> dict[str, Values]:
    if not any(is_onload(readings) for readings in loads.trials):
        return {}
    why = loads.first_reason(lambda readings: readings.why_unknown(metrics.ONLOAD_COUNTER))
    return {name: loads.each(partial(_per_second, name), why) for name in ONLOAD.kinds}


def _per_second(counter: str, readings: Readings) -> float | None:
    return readings.rate(metrics.ONLOAD_COUNTER, counter=counter)


def _cached(loads: LoadTrials) -> LoadTrials | None:
    """The trials that reached their sustain phase; None of a server that is no cache."""
    ended = [readings for readings in loads.trials if "sustain" in readings.phases]
    if not any(readings.samples(metrics.CACHE_MISSES) for readings in ended):
        return None
    return LoadTrials(ended, loads.context, loads.test)


def _of_cache(read: Read) -> Callable[[LoadTrials], Values | None]:
    def compute(loads: LoadTrials) -> Values | None:
        cached = _cached(loads)
        return cached.each(read) if cached else None

    return compute


def _blocked(loads: LoadTrials) -> dict[str, Values]:
    cached = _cached(loads)
    return cached.of_each([blocked(readings) for readings in cached.trials]) if cached else {}


ONLOAD = Figure[LoadTrials](
    name="onload",
    unit="1/s",
    definition="how often Onload polled, and what it found, per second",
    source="onload.counter, sum of its stacks",
    of="load",
    kinds={
        "k_polls": (
            "looks of Onload's code in the kernel into the event queues: by interrupts, timers, "
            "and system calls of programs that wait",
            EVENTS_OF.format("k_polls"),
        ),
        "u_polls": (
            "looks of Onload's library in the programs into the event queues; a program that spins "
            "polls all the time, and all of it counts as busy",
            EVENTS_OF.format("u_polls"),
        ),
        "rx_evs": (
            "events of received packets that all polls found; with tx_evs, by polls: near 0 "
            "of a stack that spins in vain",
            EVENTS_OF.format("rx_evs"),
        ),
        "tx_evs": ("events of sent packets that all polls found", EVENTS_OF.format("tx_evs")),
        "ul_accepts": (
            "connections that Onload's library accepted",
            EVENTS_OF.format("ul_accepts"),
        ),
        "sockcache_hit": (
            "accepted connections that got the socket of a closed one, without a system call "
            "(EF_SOCKET_CACHE_MAX)",
            EVENTS_OF.format("sockcache_hit"),
        ),
    },
    compute=_onload,
)
HIT_RATIO = Figure[LoadTrials](
    name="cache.hit_ratio",
    unit="1",
    definition="share of requests that the cache's origin did not get",
    source="the servers' own counts of requests, of cache and origin",
    of="http",
    compute=_of_cache(hit_ratio),
)
DISK_SHARE = Figure[LoadTrials](
    name="cache.disk_share",
    unit="1",
    definition="bytes that the cache's processes had read from disks, by bytes that the clients "
    "received; read-ahead can bring it above 1",
    source="/proc/PID/io read_bytes; the clients' own output",
    of="http",
    compute=_of_cache(disk_share),
)
BLOCKED = Figure[LoadTrials](
    name="cache.blocked",
    unit="s/s",
    definition="seconds per second that the cache's threads were blocked, by part: at most 1 for "
    "each event loop and each thread of a pool",
    source="tracepoints sched:sched_switch and sched:sched_wakeup",
    of="http",
    compute=_blocked,
)
WARM_AT_START = Figure[LoadTrials](
    name="cache.warm_at_start",
    unit="B",
    definition="bytes of the cache's objects that were in memory when the trial began",
    source="mincore of the cache's files",
    of="http",
    compute=_of_cache(lambda readings: readings.trial.before.get("page_cache_bytes")),
)


def _generator(what: str, unit: str, definition: str, source: str) -> Figure[LoadTrials]:
    """A figure of each of several generators; none where a single one made the load."""
    read = generators.READ[what]

    def compute(loads: LoadTrials) -> dict[str, Values]:
        names = generators.parts(readings.trial for readings in loads.trials)
        return {name: loads.each(partial(read, name)) for name in names}

    return Figure[LoadTrials](
        name=f"generators.{what}",
        unit=unit,
        definition=definition,
        source=source,
        of="load",
        compute=compute,
    )


OPENED = _generator(
    "opened",
    "1",
    "share of all opened connections that this one of several generators opened",
    "tcps_connattempt of each generator",
)
LATE = _generator(
    "late",
    "1",
    "share of its connections that this generator started more than 1 ms after their time",
    "stackcost_get_schedule of each generator",
)
BUSY = _generator(
    "busy",
    "1",
    "share of the time of its data cores in which this generator did work",
    "stackcost_get_cpu of each generator",
)
STARTED = _generator(
    "started",
    "s",
    "from the start of the first generator to that of this one",
    "the controller's clock",
)
