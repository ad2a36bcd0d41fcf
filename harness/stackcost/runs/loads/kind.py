"""What a run asks of a kind of load: which loads, for how long, and to offer them.

The other half of a kind, what its trials store and how that is judged, is in
`stackcost.contracts.load`: what only reads stored runs imports nothing that can offer a load.
"""

from abc import ABC, abstractmethod
from functools import partial
from typing import Any, ClassVar, Generic, TypeVar

from stackcost.contracts.load import Load
from stackcost.contracts.trial import Trial
from stackcost.experiment.matrix import Variant
from stackcost.runs.turn import FIGURE, OpenSession, PlannedTrial, PlannedTrials, Purpose
from stackcost.session.profile_session import SETUP_S, open_profile_session
from stackcost.session.server_session import ServerSession

Session = TypeVar("Session", bound=ServerSession)
Asked = TypeVar("Asked", bound=Load)


class LoadKind(ABC, Generic[Session, Asked]):
    """A kind of load in one run.

    `together`: its trials in a turn are run again together, because a figure needs all of them on
    one test bed. `open`: the session that it asks for. `setup_s`: about how long that takes.
    """

    together: ClassVar[bool] = False
    open: ClassVar[OpenSession[Any]] = staticmethod(open_profile_session)
    setup_s: ClassVar[float] = SETUP_S

    def loads(self, variant: Variant) -> list[Asked]:
        """The loads of the plan for a system in one round, in order; most runs find theirs."""
        return []

    @abstractmethod
    def seconds(self, load: Asked) -> float:
        """About how long a trial takes, for the display of the remaining time."""

    @abstractmethod
    def words(self, load: Asked) -> str:
        """The load in words, for the progress line."""

    def prepare(self, session: Session) -> None:
        """Before the first trial of this kind in a session; most need nothing."""

    @abstractmethod
    def offer(self, session: Session, trial: Trial) -> None:
        """Offer the load of a trial, and fill the trial in while it runs.

        A trial that is cut short then has its data so far.
        """

    def planned(
        self,
        session: Session,
        trial: Trial,
        load: Asked,
        purpose: Purpose = FIGURE,
    ) -> PlannedTrial:
        """The trial of a load for the campaign."""
        return PlannedTrial(
            trial=trial,
            make=partial(self.offer, session),
            words=self.words(load),
            purpose=purpose,
            seconds=self.seconds(load),
        )

    def steps(self, session: Session, trial: Trial, load: Asked) -> PlannedTrials[None]:
        """The trial as a step of a turn; a kind may find out something by others before it."""
        yield self.planned(session, trial, load)
