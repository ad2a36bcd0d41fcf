"""The input of a campaign: turns of systems, and the trials of each turn.

A feed is a Python generator of turns, and the steps of a turn are a generator of planned trials.
Both receive the result of each item before they yield the next one, because a search needs it.
"""

import random
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from stackcost.contracts.server import Server
from stackcost.contracts.trial import Trial
from stackcost.experiment.schema import Experiment
from stackcost.session.profile_session import SETUP_S
from stackcost.session.progress import Progress
from stackcost.session.server_session import ServerSession

System = TypeVar("System")


def draw_seed() -> int:
    """A new seed of a run's order, for its manifest."""
    return random.SystemRandom().randrange(2**32)


def in_order(systems: Sequence[System], round_number: int, seed: int) -> Sequence[System]:
    """The order of the systems' turns in a round (the first is 1).

    It is drawn at random for each round on its own. So the signs of the pairs of two equal systems
    are independent, whatever disturbs the host and with which period, which is just what the test
    of pairs assumes. A fixed order A B B A would be in step with whatever repeats itself every two
    rounds. With one draw for each two rounds, the second round would follow from the first.

    `seed`: of the run.
    """
    return random.Random(f"{seed}, {round_number}").sample(systems, len(systems))


@dataclass(frozen=True, slots=True)
class Purpose:
    """The purpose of a trial. It decides what happens if the machine disturbed the trial.

    `repeats`: how often the trial is repeated at most. `decides`: the next load depends on this
    trial, as in a search. Then all attempts count, and the run ends if another stack carried the
    connections. Otherwise the trial is for a figure: the last attempt counts, and a run repeats
    only a share of its trials. `set_aside`: why no figure uses the trial; empty if one does.
    """

    repeats: int = 0
    decides: bool = False
    set_aside: str = ""


FIGURE = Purpose(repeats=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTrial:
    """A trial as planned, before it runs. The campaign gives it its number.

    `make`: offers the load and fills the trial in. `words`: describes the trial on the progress
    line. `seconds`: estimated duration of the trial.
    """

    trial: Trial
    make: Callable[[Trial], None]
    words: str
    purpose: Purpose
    seconds: float = 0.0


Result = TypeVar("Result")
PlannedTrials: TypeAlias = Generator[PlannedTrial, list[Trial], Result]
"""Yields a planned trial, and receives the list of its attempts, the last attempt at the end."""


Session = TypeVar("Session", bound=ServerSession)
Opened = TypeVar("Opened", bound=ServerSession, covariant=True)


class OpenSession(Protocol[Opened]):
    """Opens the session for the trials of a turn, such as `open_profile_session`."""

    def __call__(
        self,
        kind: type[Server],
        experiment: Experiment,
        folder: Path,
        progress: Progress,
        /,
    ) -> AbstractContextManager[Opened]:
        """The session. `folder`: for logs of programs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn(Generic[Session, Result]):
    """One system's turn on a fresh test bed: its trials, one after the other.

    `system`: its name in the manifest; empty if the manifest does not list it, as for a reference
    system. `bed`: name of its test bed in the manifest, if that is not the system's name. `where`:
    the turn's name for people; messages begin with it. `logs`: name of the folder for the programs'
    logs. `open`: opens the session for the trials. `steps`: takes the session and generates the
    planned trials; its return value is the result of the turn. `setup_s`: estimated time until the
    first trial.
    """

    system: str
    kind: type[Server]
    experiment: Experiment
    where: str
    logs: str
    steps: Callable[[Session], PlannedTrials[Result]]
    open: OpenSession[Session]
    bed: str = ""
    setup_s: float = SETUP_S

    def taken(self) -> "Feed[Result]":
        """The turn as a part of a feed, which gets its result: `yield from turn.taken()`."""
        result: Result = yield self
        return result


# Each turn has a session and a result of its own kind, and so a feed has one of any.
Feed: TypeAlias = Generator[Turn[Any, Any], Any, Result]
"""Yields turns, and receives the result of each turn."""
