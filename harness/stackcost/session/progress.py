"""What a run does now, and how long it still takes: the one place that knows both."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

LEARNED_S = 10.0  # of planned steps: then half of their deviation is expected of the rest
LEAST_SHARE = 0.1  # of its plan; a step that took less was left out, and says nothing of others
MAKING_BED = "making the test bed"


@dataclass(frozen=True, slots=True)
class Now:
    """What a run does at a moment. Seconds that are left are estimates: the plan's, times what the
    steps so far took of theirs.

    `turn`: its name, as in messages. `system`: whose turn it is. `number`, `of`: which turn it is,
    and of how many that are known. `doing`: what is being done, in words. `load`: of the trial that
    runs; empty outside of trials. `passed_s`: of all set-ups and trials so far.
    """

    turn: str
    system: str
    number: int
    of: int
    doing: str
    load: str
    passed_s: float
    turn_left_s: float
    left_s: float


@dataclass(slots=True)
class Search:
    """A part of a turn whose trials follow from each other. `left_s`: seconds that it still takes,
    without the trial that runs.
    """

    left_s: float


class Progress:
    """Gets a run's plan once (`expect`), and then each turn and each trial when it begins.

    While a set-up or a trial runs, its own seconds pass. When it is over, what it took is compared
    with its plan, and what is left is expected to be as much longer or shorter as all steps were:
    those that repeat a trial, which no plan has, make it longer.
    """

    def __init__(self) -> None:
        self._listeners: list[Callable[[Now], None]] = []
        self._readers: list[Callable[[str], None]] = []
        self._to_come: list[float] = []
        self._turn = self._system = self._doing = self._load = ""
        self._number = 0
        self._passed_s = self._rest_s = self._step_s = self._began = 0.0
        self._planned_s = self._took_s = 0.0  # of the steps that are over
        self._is_planned = True
        self._search: Search | None = None

    def subscribe(self, listener: Callable[[Now], None]) -> None:
        """Call `listener` each time that something else is done; it must not wait."""
        self._listeners.append(listener)

    def on_note(self, reader: Callable[[str], None]) -> None:
        """Call `reader` with each sentence that the user has to read; it must not wait."""
        self._readers.append(reader)

    def note(self, sentence: str) -> None:
        """Tell something that stays to be read."""
        for reader in self._readers:
            reader(sentence)

    def expect(self, turns: Sequence[float]) -> None:
        """The seconds of each turn that has not begun, in order, in place of what was expected."""
        self._to_come = list(turns)

    @contextmanager
    def turn(self, name: str, system: str, setup_s: float) -> Iterator[None]:
        """A turn goes on, at first for `setup_s` without a trial.

        Without a plan it is expected to be over when it is set up.
        """
        self._rest_s, *self._to_come = self._to_come or [setup_s]
        self._turn, self._system, self._doing = name, system, MAKING_BED
        self._number += 1
        self._begin(setup_s)
        try:
            yield
        finally:
            self._end()
            self._rest_s = 0.0

    @contextmanager
    def trial(self, load: str, seconds: float, again: str = "") -> Iterator[None]:
        """A trial of this load runs. `again`: words for one that repeats the last and so comes on
        top of the plan.
        """
        self._begin(seconds, planned=not again)
        self._load = load
        self.say(load + again)
        try:
            yield
        finally:
            self._end()

    @contextmanager
    def search(self, seconds: float) -> Iterator[Search]:
        """A search goes on, for which the turn has `seconds`; what comes after it keeps its own."""
        self._rest_s = max(0.0, self._rest_s - seconds)
        self._search = Search(seconds)
        try:
            yield self._search
        finally:
            self._search = None

    def say(self, what: str) -> None:
        """Tell what is being done now."""
        self._doing = what
        now = self.now()
        for listener in self._listeners:
            listener(now)

    def now(self) -> Now:
        """What is done at this moment. Another thread may ask, too."""
        took_s = time.monotonic() - self._began if self._step_s else 0.0
        scale = (LEARNED_S + self._took_s) / (LEARNED_S + self._planned_s)
        rest_s = self._rest_s + (self._search.left_s if self._search else 0.0)
        left_s = max(0.0, scale * self._step_s - took_s) + scale * rest_s
        return Now(
            turn=self._turn,
            system=self._system,
            number=self._number,
            of=self._number + len(self._to_come),
            doing=self._doing,
            load=self._load,
            passed_s=self._passed_s + took_s,
            turn_left_s=left_s,
            left_s=left_s + scale * sum(self._to_come),
        )

    def _begin(self, seconds: float, planned: bool = True) -> None:
        """A set-up or a trial begins; its seconds come from the search that goes on, or the turn.

        Not `planned`: they come on top.
        """
        self._end()
        if planned and self._search:
            self._search.left_s = max(0.0, self._search.left_s - seconds)
        elif planned:
            self._rest_s = max(0.0, self._rest_s - seconds)
        self._step_s, self._began, self._is_planned = seconds, time.monotonic(), planned

    def _end(self) -> None:
        took_s = time.monotonic() - self._began if self._step_s else 0.0
        self._passed_s += took_s
        if took_s > LEAST_SHARE * self._step_s:
            self._took_s += took_s
            self._planned_s += self._step_s if self._is_planned else 0.0
        self._step_s, self._load = 0.0, ""
