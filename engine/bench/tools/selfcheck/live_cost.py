"""What `--live` takes of the load's core, and the figures of trials with it and without it.

They take turns, with it and without it first in turn. With it means with a page that is open, and
a scrape of the metrics each second.
"""

import http.client
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import NamedTuple

from hdrh.histogram import HdrHistogram

from stackcost.analysis.cost import cpu
from stackcost.analysis.readings import Readings
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.latency import percentile_us
from stackcost.contracts.load import ConstantLoad
from stackcost.contracts.trial import Trial
from stackcost.runs.live.server import LOOPBACK, serving
from stackcost.runs.live.watch import Watch
from stackcost.runs.loads.constant import offer_load, prepare_load
from stackcost.runs.observers import observed_by
from stackcost.runs.turn import FIGURE, PlannedTrial, PlannedTrials
from stackcost.session.profile_session import ProfileSession

from .row import Row, row

LIVE_TOLERANCE = 0.003


class Seen(NamedTuple):
    """Of a trial: share of a core that the page's thread took, us of CPU and of completion time."""

    share: float
    cost: float
    median: float


def live_steps(session: ProfileSession, rounds: int) -> PlannedTrials[tuple[Row, list[Row]]]:
    """The row of the page's own time, and rows of figures without it (known) and with it.

    A round in which a trial has no figures is left out. StackcostError if no round has them.
    """
    watch, pairs, why = Watch(), list[dict[bool, Seen]](), ""
    prepare_load(session)
    watch.opened(session)
    for number in range(rounds):
        pair = dict[bool, Seen]()
        for shown in (True, False) if number % 2 else (False, True):
            seen = yield from made(session, watch if shown else None)
            if isinstance(seen, Seen):
                pair[shown] = seen
            else:
                why = seen
        if len(pair) == 2:
            pairs.append(pair)
    if not pairs:
        raise StackcostError(f"no round of {rounds} has its figures: {why}")
    without, with_page = [pair[False] for pair in pairs], [pair[True] for pair in pairs]
    thread = row(
        "a second of the load's core, with the time of the live page's thread",
        "ms",
        [1000.0] * len(pairs),
        [1000 * (1 + each.share) for each in with_page],
    )
    return thread, [
        row(
            "with the live page (known: without): CPU time of the server's core per connection",
            "us",
            [each.cost for each in without],
            [each.cost for each in with_page],
        ),
        row(
            "with the live page (known: without): median of the completion times",
            "us",
            [each.median for each in without],
            [each.median for each in with_page],
        ),
    ]


def made(session: ProfileSession, watch: Watch | None) -> PlannedTrials[Seen | str]:
    """One trial with this watch on the page, or without a page: its figures, or why it has none."""
    part = session.experiment.load
    load, shares = ConstantLoad(offered_cps=part.offered_cps[0]), list[float]()

    def make(trial: Trial) -> None:
        with _read_by_page(watch) if watch else nullcontext():
            began, before = time.monotonic(), _page_seconds()
            offer_load(session, trial, part)
            shares.append((_page_seconds() - before) / (time.monotonic() - began))

    words = "with the live page" if watch else "without the live page"
    with observed_by(watch) if watch else nullcontext():
        trials = yield PlannedTrial(
            trial=Trial(session.local_server.server.name, 0, 1, load, session.response_bytes),
            make=make,
            words=words,
            purpose=FIGURE,
        )
    seen = Readings(trials[-1], session.experiment.cores.server)
    cost = cpu.server_total(seen)
    (kinds,) = (trials[-1].traffic.latency or {"": {}}).values()
    times = kinds.get("completion")
    median = percentile_us(HdrHistogram.decode(times), 50) if times else None
    if cost is None or median is None:
        return f"{words}: {cpu.why_no_cost(seen) or 'no completion time was read'}"
    return Seen(shares[-1], cost, median)


@contextmanager
def _read_by_page(watch: Watch) -> Iterator[None]:
    """Serve it, and read its events and metrics as they come, until it ends.

    Yields when the page has its first state: to open it takes some 10 ms, once in a run.
    """
    with serving(watch, 0) as address:
        opened = threading.Event()
        port = int(address.rstrip("/").split(":")[-1])
        reader = threading.Thread(target=_read, args=[port, opened])
        reader.start()
        opened.wait(5)
        yield
    reader.join()


def _read(port: int, opened: threading.Event) -> None:
    page, scraper = (http.client.HTTPConnection(LOOPBACK, port, timeout=5) for _ in range(2))
    page.request("GET", "/events")
    with suppress(ConnectionError):  # the page may end amid a scrape
        for line in page.getresponse():
            if line.startswith(b"data: "):
                scraper.request("GET", "/metrics")
                scraper.getresponse().read()
                opened.set()
    scraper.close()
    page.close()


def _page_seconds() -> float:
    """Seconds that the page's thread has run (fs/proc/base.c, proc_pid_schedstat); 0 without."""
    threads = [each.native_id for each in threading.enumerate() if each.name == "live"]
    return sum(
        int(Path(f"/proc/self/task/{number}/schedstat").read_text().split()[0]) / 1e9
        for number in threads
    )
