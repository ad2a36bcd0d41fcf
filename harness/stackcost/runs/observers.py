"""Who is told what a run does, beside the screen: such as the page of `--live`.

An observer only looks. It is called between trials, never in a window; what it does in threads of
its own must take next to nothing, on the load's cores.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from stackcost.contracts.trial import Trial
from stackcost.session.progress import Progress
from stackcost.session.server_session import ServerSession
from stackcost.store import RunFolder


class Observer(Protocol):
    """Told of a run's parts as they come; a part that ends has a `None`."""

    def waits(self, what: str) -> None:
        """Before a run: what its beginning waits for, in words."""

    def begins(self, folder: RunFolder, title: str, progress: Progress) -> None:
        """A run begins; its manifest may not be written yet."""

    def opened(self, session: ServerSession | None) -> None:
        """A server and its collectors are up; None: they are about to end."""

    def offered(self, trial: Trial | None) -> None:
        """A trial begins; None: it is over."""

    def stored(self, trial: Trial, session: ServerSession) -> None:
        """A trial has been stored."""


OBSERVERS: list[Observer] = []


@contextmanager
def observed_by(observer: Observer) -> Iterator[None]:
    """Inside, runs of this process tell this observer."""
    OBSERVERS.append(observer)
    try:
        yield
    finally:
        OBSERVERS.remove(observer)


def tell_waiting(what: str) -> None:
    """Tell all observers what the beginning of a run waits for."""
    for each in OBSERVERS:
        each.waits(what)


@contextmanager
def telling_of_session(session: ServerSession) -> Iterator[None]:
    """Tell all observers of a session, and of its end."""
    for each in OBSERVERS:
        each.opened(session)
    try:
        yield
    finally:
        for each in OBSERVERS:
            each.opened(None)


@contextmanager
def telling_of_trial(trial: Trial, session: ServerSession) -> Iterator[None]:
    """Tell all observers of a trial, of its end, and of its readings once they are stored."""
    for each in OBSERVERS:
        each.offered(trial)
    try:
        yield
    finally:
        for each in OBSERVERS:
            each.offered(None)
    for each in OBSERVERS:
        each.stored(trial, session)
