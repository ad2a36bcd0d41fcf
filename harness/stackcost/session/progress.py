"""What a run does now, and how long it still takes: the one place that knows both."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

LEARNED_S = 4.0  # of planned steps: then half of their deviation is expected of the rest
LEAST_SHARE = 0.1  # of its plan; a step that took less was left out, and says nothing of others
MAKING_BED = "making the test bed"
SET_UP, ANY = "set-up", ""  # kinds of steps; others are kinds of loads
Plan: TypeAlias = float | Mapping[str, float]
"""Seconds of a turn, or the same by the kinds of its steps: set-up, and those of its loads."""


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
class Learned:
    """What steps of one kind took, seconds, with their repeats and what lay between them, and what
    was planned for them.
    """

    planned_s: float = 0.0
    took_s: float = 0.0

    def scale(self, otherwise: float = 1.0) -> float:
        """How many times as long as planned such steps take; `otherwise`: before any was made."""
        return (LEARNED_S * otherwise + self.took_s) / (LEARNED_S + self.planned_s)


@dataclass(slots=True)
class Search:
    """A part of a turn whose trials follow from each other. `left_s`: seconds that it still takes,
    without the trial that runs.
    """

    left_s: float


class Progress:
    """Gets a run's plan once (`expect`), and then each turn and each trial when it begins.

    While a set-up or a trial runs, its own seconds pass. When it is over, what it took is compared
    with its plan, and what is left is expected to be as much longer or shorter as the steps of its
    kind were, or all steps where none of its kind was made: a busy machine takes three times as
    long to set up a test bed, and little longer for a trial. Repeats, which no plan has, make what
    is left longer.
    """

    def __init__(self) -> None:
        self._listeners: list[Callable[[Now], None]] = []
        self._readers: list[Callable[[str], None]] = []
        self._to_come: list[Plan] = []
        self._turn = self._system = self._doing = self._load = ""
        self._number = 0
        self._passed_s = self._setup_s = self._step_s = self._began = 0.0
        self._rest: dict[str, float] = {}  # seconds of the turn's steps to come, by kind
        self._ended: float | None = None  # the last step
        self._is_planned = True
        self._all, self._learned = Learned(), defaultdict[str, Learned](Learned)
        self._kind = SET_UP  # of the step that runs
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

    def expect(self, turns: Sequence[Plan]) -> None:
        """The plan of each turn that has not begun, in order, in place of what was expected."""
        self._to_come = list(turns)

    @contextmanager
    def turn(self, name: str, system: str, setup_s: float) -> Iterator[None]:
        """A turn goes on, at first for `setup_s` without a trial.

        Without a plan it is expected to be over when it is set up.
        """
        self._setup_s = setup_s
        plan, *self._to_come = self._to_come or [setup_s]
        self._rest = self._by_kind(plan)
        self._turn, self._system, self._doing = name, system, MAKING_BED
        self._number += 1
        self._begin(SET_UP, setup_s)
        if self._ended is not None:
            self._began = self._ended  # the last test bed was undone since then
        try:
            yield
        finally:
            self._end()
            self._rest = {}

    @contextmanager
    def trial(self, load: str, seconds: float, again: str = "", kind: str = ANY) -> Iterator[None]:
        """A trial of this load runs. `again`: words for one that repeats the last and so comes on
        top of the plan. `kind`: of the load, as in the plan.
        """
        self._begin(kind, seconds, planned=not again)
        self._load = load
        self.say(load + again)
        try:
            yield
        finally:
            self._end()

    @contextmanager
    def search(self, seconds: float) -> Iterator[Search]:
        """A search goes on, for which the turn has `seconds`; what comes after it keeps its own."""
        self._take(ANY, seconds)
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
        scale = self._scales()
        search_s = self._search.left_s if self._search else 0.0
        left_s = max(0.0, scale(self._kind) * self._step_s - took_s) + scale(ANY) * search_s
        left_s += sum(scale(kind) * seconds for kind, seconds in self._rest.items())
        later = [part for plan in self._to_come for part in self._by_kind(plan).items()]
        return Now(
            turn=self._turn,
            system=self._system,
            number=self._number,
            of=self._number + len(self._to_come),
            doing=self._doing,
            load=self._load,
            passed_s=self._passed_s + took_s,
            turn_left_s=left_s,
            left_s=left_s + sum(scale(kind) * seconds for kind, seconds in later),
        )

    def _scales(self) -> Callable[[str], float]:
        """How many times as long as planned steps of a kind take; of a search that of its trials,
        and of a kind that was not seen that of all steps.
        """
        whole = self._all.scale()

        def scale(kind: str) -> float:
            seen = self._learned.get(self._kind if kind == ANY and self._search else kind)
            return seen.scale(whole) if seen else whole

        return scale

    def _by_kind(self, plan: Plan) -> dict[str, float]:
        """A turn's seconds by kind; of one whose kinds are not known its set-up and the rest."""
        if isinstance(plan, Mapping):
            return dict(plan)
        setup_s = min(plan, self._setup_s)
        return {SET_UP: setup_s, ANY: plan - setup_s}

    def _take(self, kind: str, seconds: float) -> None:
        """Take a step's seconds from what the turn has left."""
        kind = kind if kind in self._rest else ANY
        left = max(0.0, self._rest.get(kind, 0.0) - seconds)
        self._rest = self._rest | {kind: left}

    def _begin(self, kind: str, seconds: float, planned: bool = True) -> None:
        """A set-up or a trial begins; its seconds come from the search that goes on, or the turn.

        Not `planned`: they come on top.
        """
        self._end()
        if planned and self._search:
            self._search.left_s = max(0.0, self._search.left_s - seconds)
        elif planned:
            self._take(kind, seconds)
        self._kind, self._is_planned = kind, planned
        self._step_s, self._began = seconds, time.monotonic()

    def _end(self) -> None:
        if not self._step_s:
            return
        self._ended = time.monotonic()
        took_s = self._ended - self._began
        self._passed_s += took_s
        if took_s > LEAST_SHARE * self._step_s:
            for learned in (self._learned[self._kind], self._all):
                learned.took_s += took_s
                learned.planned_s += self._step_s if self._is_planned else 0.0
        self._step_s, self._load = 0.0, ""
