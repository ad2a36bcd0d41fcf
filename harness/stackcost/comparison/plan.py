"""The order of a run's trials, and their estimated duration.

Every system has one turn in a round; `stackcost.campaign.order` has the order.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from stackcost.campaign.order import in_order
from stackcost.contracts.load import Load
from stackcost.contracts.trial import Trial
from stackcost.experiment.matrix import Variant, variants
from stackcost.experiment.schema import Experiment
from stackcost.loads.kind import LoadKind
from stackcost.loads.registry import kinds_of
from stackcost.session.http_session import HTTP_SETUP_S
from stackcost.session.profile_session import SETUP_S


@dataclass(frozen=True, slots=True)
class PlannedLoad:
    """A trial of the plan, and the kind that offers its `load`, the same as the trial's."""

    trial: Trial
    kind: LoadKind[Any, Any]
    load: Load

    @property
    def seconds(self) -> float:
        """About how long it takes."""
        return self.kind.seconds(self.load)


@dataclass(frozen=True, slots=True)
class PlannedTurn:
    """One system's turn in one round: its loads in order, on a new test bed."""

    round: int
    variant: Variant
    loads: list[PlannedLoad]

    @property
    def trials(self) -> list[Trial]:
        """All trials in order."""
        return [planned.trial for planned in self.loads]

    @property
    def setup_s(self) -> float:
        """About how long it takes until its first trial begins."""
        return HTTP_SETUP_S if self.variant.experiment.http else SETUP_S

    @property
    def seconds(self) -> float:
        """About how long it takes."""
        return self.setup_s + sum(planned.seconds for planned in self.loads)


def plan(
    experiment: Experiment,
    stored: Collection[Trial] = (),
    lacking: Collection[str] = (),
    seed: int | None = None,
) -> list[PlannedTurn]:
    """All turns in order, without the trials in `stored` and the systems in `lacking`.

    `seed`: of the order of the systems.

    Trials that hold flows are repeated together, because their slope needs one test bed.
    """
    done = Counter(identity(trial) for trial in stored if not trial.set_aside)
    turns = []
    for number in range(1, experiment.rounds + 1):
        for variant in in_order(variants(experiment), number, seed):
            if variant.lacking or variant.name in lacking:
                continue
            loads = list[PlannedLoad]()
            for kind in kinds_of(experiment):
                asked = [
                    PlannedLoad(Trial(variant.name, 0, number, load), kind, load)
                    for load in kind.loads(variant)
                ]
                left = [each for each in asked if identity(each.trial) not in done]
                if kind.together and not Counter(identity(each.trial) for each in asked) <= done:
                    left = asked
                loads += left
            turns += [PlannedTurn(number, variant, loads)] if loads else []
    return turns


def identity(trial: Trial) -> tuple[object, ...]:
    """The values that identify a trial of the plan."""
    return trial.server, trial.round, *trial.load.identity
