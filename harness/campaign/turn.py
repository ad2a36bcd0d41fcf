"""What feeds a campaign: turns of systems, and in each of them trials.

A feeder is a generator of turns, and the steps of a turn are a generator of trials. Both are told
how each came out before they say what comes next: a search needs that.
"""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from stackcost.contracts.server import Server
from stackcost.contracts.trial import Trial
from stackcost.harness.experiment.schema import Experiment
from stackcost.harness.session.session import SETUP_S, open_session


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a trial is for. It says what becomes of one that the machine disturbed.

    `repeats`: how often at most it is made again. `decides`: what is done next rests on the trial,
    as in a search: all attempts count, and one that another stack carried ends the run. Otherwise
    it is for a figure: the last attempt counts, and a run repeats only a share of its trials.
    `set_aside`: why the trial is in no figure; empty when it is.
    """

    repeats: int = 0
    decides: bool = False
    set_aside: str = ""


FIGURE = Purpose(repeats=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTrial:
    """A trial to make, as planned: its number is the campaign's business.

    `make`: offers its load and fills it in. `words`: what is done, for people. `seconds`: about how
    long it takes. `left_s`: about how long everything takes from here on, this trial included.
    """

    trial: Trial
    make: Callable[[Trial], None]
    words: str
    purpose: Purpose
    seconds: float = 0.0
    left_s: float = 0.0


Result = TypeVar("Result")
PlannedTrials: TypeAlias = Generator[PlannedTrial, list[Trial], Result]
"""Yields a trial to make, and gets it with its repeats, the last one last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One system's turn on a fresh test bed: its trials, one after the other.

    `system`: its name in the manifest; empty of one that is not recorded, as a twin. `bed`: what
    its test bed is called there, when it is not the system's name. `where`: for people, and first
    in messages. `logs`: name of the folder that takes the programs' logs. `open`: opens what
    the trials are run on, as `open_session`. `steps`: the trials, given the session; what it
    returns is what the turn came to. `seconds`: about how long it takes until the first trial.
    `left_s`: about how long everything takes from here on, this turn included.
    """

    system: str
    kind: type[Server]
    experiment: Experiment
    where: str
    logs: str
    steps: Callable[[Any], PlannedTrials[Any]]
    open: Callable[..., AbstractContextManager[Any]] = open_session
    bed: str = ""
    seconds: float = SETUP_S
    left_s: float = 0.0


Feed: TypeAlias = Generator[Turn, Any, Result]
"""Yields turns, and gets what each came to."""
