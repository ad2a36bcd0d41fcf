"""What a run does now, as plain data: the content of the live page and of its metrics."""

import json
import statistics
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stackcost.analysis.cost.cpu import server_total
from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.flags import flags_of
from stackcost.contracts.collector import Reading
from stackcost.contracts.load import load_words
from stackcost.contracts.sample import Sample
from stackcost.contracts.trial import Trial
from stackcost.runs.live.rates import LiveRates, Second
from stackcost.session.progress import Now, Progress
from stackcost.session.server_session import ServerSession
from stackcost.store import RunFolder

POINTS = 300  # seconds of history on the page
FLAGS = 30


@dataclass(frozen=True, slots=True)
class Cost:
    """One system at one load so far: median of its trials, us of CPU per connection."""

    system: str
    load: str
    us: float
    trials: int


class Watch:
    """Observes the runs of this process. It takes no reading of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._progress: Progress | None = None
        self._session: ServerSession | None = None
        self._rates = LiveRates(())
        self._taken = 0
        self._run = self._title = self._waits = ""
        self._offered: float | None = None
        self._costs: dict[tuple[str, str], dict[int, float]] = {}  # by round
        self._flags: deque[str] = deque(maxlen=FLAGS)
        self._points: deque[str] = deque(maxlen=POINTS)  # as JSON: each goes out 300 times
        self._second = Second()
        self._trials = 0

    def waits(self, what: str) -> None:
        """The page says so until the run begins."""
        with self._lock:
            self._waits = what

    def begins(self, folder: RunFolder, title: str, progress: Progress) -> None:
        """Of several runs, as of a device, the page shows the newest, and the costs of them all."""
        with self._lock:
            self._run, self._title, self._progress = folder.name, title, progress
            self._flags.clear()
            self._trials = 0
        progress.on_note(self._noted)

    def _noted(self, sentence: str) -> None:
        with self._lock:
            self._flags.append(sentence)

    def opened(self, session: ServerSession | None) -> None:
        """Its samples are read from now on."""
        with self._lock:
            self._session, self._taken, self._second = session, 0, Second()
            if session is not None:
                self._rates = LiveRates(session.experiment.cores.server)

    def offered(self, trial: Trial | None) -> None:
        """What it offers is beside what comes to an end, of this trial alone."""
        with self._lock:
            self._offered = trial.offered_cps or None if trial else None
            if trial and self._session:
                self._taken = len(self._session.sampler.readings)
                self._second = self._rates.begin_trial()

    def stored(self, trial: Trial, session: ServerSession) -> None:
        """Its flags and its cost, as they will be in the answer."""
        readings = Readings(trial, session.experiment.cores.server)
        flags = [f"trial {trial.number}, {trial.server}: {each}" for each in flags_of(readings)]
        cost = None if trial.traffic.holds else server_total(readings)
        with self._lock:
            self._trials += 1
            self._flags.extend(flags)
            if cost is not None and not trial.set_aside:
                load = load_words(trial.traffic.test, trial.offered_cps)
                # A repeat is in the place of the disturbed trial of its round.
                self._costs.setdefault((trial.server, load), {})[trial.round] = cost

    def read(self) -> None:
        """Take in the newest samples; once a second, by one caller."""
        with self._lock:
            if self._session is None:
                return
            readings = self._session.sampler.readings
            fresh, self._taken = readings[self._taken :], len(readings)
            if not fresh:
                return
            self._second = self._rates.second(_edges(fresh, self._rates.in_trial))
            point = {
                "offered": self._offered,
                "completed": self._second.completed,
                "p50": self._second.latency_us.get("p50"),
                "p99": self._second.latency_us.get("p99"),
            }
            self._points.append(json.dumps(point))

    def snapshot(self) -> dict[str, Any]:
        """This moment, ready for JSON: `waits` (for what, before a run), `now`
        (`stackcost.session.progress.Now`), `second` (`Second`), `offered` (connections/s), `costs`
        (`Cost`), `flags`, the newest last.
        """
        with self._lock:
            return {
                "run": self._run,
                "title": self._title,
                "waits": self._waits,
                "now": _fields(self._progress.now()) if self._progress else None,
                "trials": self._trials,
                "offered": self._offered,
                "second": _fields(self._second),
                "costs": [_fields(each) for each in _medians(self._costs)],
                "flags": list(self._flags),
            }

    def state(self) -> str:
        """The snapshot as JSON, with the history too: `points`, one a second, the newest last."""
        moment = json.dumps(self.snapshot())
        with self._lock:
            return f'{moment[:-1]}, "points": [{", ".join(self._points)}]}}'


def _edges(readings: Sequence[Reading], last_only: bool) -> list[Sample]:
    """Samples of the last reading of each collector, and of the first one as well at first."""
    first, last = dict[object, Reading](), dict[object, Reading]()
    for number, each in enumerate(readings):
        whose = each.collector or number  # all of another host are taken in
        first.setdefault(whose, each)
        last[whose] = each
    ends = [*(() if last_only else first.values()), *last.values()]
    return [sample for each in ends for sample in LiveRates.shown(each)]


def _fields(of: Now | Second | Cost) -> dict[str, Any]:
    """Without copies of the values, which `asdict` makes: they are replaced, never changed."""
    return {name: getattr(of, name) for name in of.__slots__}


def _medians(costs: Mapping[tuple[str, str], Mapping[int, float]]) -> list[Cost]:
    return [
        Cost(system, load, statistics.median(values.values()), len(values))
        for (system, load), values in costs.items()
    ]
