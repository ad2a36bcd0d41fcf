"""Kinds of load of the user's own, found by the path of their file."""

from abc import abstractmethod
from pathlib import Path
from typing import ClassVar

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.load import OwnLoad, rate_words
from stackcost.contracts.trial import Trial
from stackcost.experiment.matrix import Variant
from stackcost.experiment.schema import Experiment
from stackcost.runs.loads.constant import load_trial_s, over_tls, prepare_load
from stackcost.runs.loads.kind import LoadKind
from stackcost.servers.own_files import class_in
from stackcost.session.profile_session import ProfileSession


class OwnKind(LoadKind[ProfileSession, OwnLoad]):
    """Offers the rates of the section `load` in a way of its own; derive one class in a file.

    `name`: of the kind, for people. `part`: the section `load`, with its `settings`.
    """

    name: ClassVar[str] = ""

    def __init__(self, experiment: Experiment):
        self.part = experiment.load

    def loads(self, variant: Variant) -> list[OwnLoad]:
        """Each rate once, with the settings."""
        return [
            OwnLoad(name=self.name, offered_cps=rate, settings=dict(self.part.settings))
            for rate in self.part.offered_cps
        ]

    def seconds(self, load: OwnLoad) -> float:
        """Seconds of a constant load."""
        return load_trial_s(self.part)

    def words(self, load: OwnLoad) -> str:
        """The name and the mean rate."""
        return f"{self.name}, {rate_words(load.rate)} connections/s{over_tls(self.part)}"

    def prepare(self, session: ProfileSession) -> None:
        """Load the profile of the section `load` on both sides."""
        prepare_load(session)

    def offer(self, session: ProfileSession, trial: Trial) -> None:
        """Offer it by the user's `offer_own`."""
        load = trial.load_of(OwnLoad)
        self.offer_own(session, trial, load)

    @abstractmethod
    def offer_own(self, session: ProfileSession, trial: Trial, load: OwnLoad) -> None:
        """Offer the load and fill in the trial: its phases "warm-up" and "sustain", whose edges
        `session.read_edge` gives, and what was read of the `load`.
        """


def own_kind(file: str) -> type[OwnKind]:
    """The kind of load in this file. StackcostError if there is none."""
    found = class_in(Path(file), OwnKind, "docs/adding-a-load.md")
    if not found.name:
        raise StackcostError(f"{file}: {found.__name__} needs a `name`")
    return found
