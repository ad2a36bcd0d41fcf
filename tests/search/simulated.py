"""A system under test with a known ceiling, on no machine: trials as a search stores them."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from stackcost.analysis.ceiling.controller import Measure, TrialLoss
from stackcost.analysis.ceiling.settings import SearchSettings
from stackcost.analysis.ceiling.stored import decisive, needs_repeat, trial_loss
from stackcost.contracts.counts import Schedule
from stackcost.contracts.load import CeilingKind, HeldFlows, Loss, SearchStep
from stackcost.contracts.trial import Trial
from tests.analysis.trials import SUSTAIN, load_trial


@dataclass
class Simulated:
    """Takes `ceiling` per second, give or take `noise` (standard deviation, a share of it).

    `generator`: what its generator can offer per second; it says so in a trial that asks for more.
    `hiccup`: share of the trials in which the machine is disturbed and a twentieth is lost for it.
    """

    ceiling: float
    noise: float = 0.0
    generator: float = float("inf")
    hiccup: float = 0.0
    of: CeilingKind = "connections"
    repeats: int = 2
    seed: int = 1
    trials: list[Trial] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def measure(self, load: float, duration: float) -> TrialLoss:
        """One trial with its repeats, as the runner makes them."""
        attempts = []
        for repeat in range(self.repeats + 1):
            trial = self._trial(load, duration, repeat)
            self.trials.append(trial)
            attempts.append(trial)
            if not needs_repeat(trial):
                break
        return trial_loss(decisive(attempts))

    def _trial(self, load: float, duration: float, repeat: int) -> Trial:
        intended = round(load if self.of == "flows" else load * duration)
        span = 1.0 if self.of == "flows" else duration
        takes = self.ceiling * self._random.gauss(1, self.noise) * span
        sent = min(intended, round(self.generator * span) if self.generator < load else intended)
        disturbed = self._random.random() < self.hiccup
        if disturbed:
            takes = min(takes, 0.95 * sent)
        lost = {
            "not started by the generator": intended - sent,
            "not answered in time": max(0, sent - round(takes)),
        }
        trial = load_trial(number=len(self.trials) + 1, offered=load)
        offered = trial.traffic
        if self.of == "flows":
            offered = HeldFlows(open_flows=intended, client=offered.client)
            trial.phases = {"opening": SUSTAIN, "hold": SUSTAIN}
        offered.schedule = Schedule(intended=intended, opened=sent, late=0, unsent=0)
        trial.load = SearchStep(
            of=self.of,
            load=load,
            duration_s=duration,
            repeat=repeat,
            offered=offered,
            loss=Loss(
                intended=intended,
                lost=sum(lost.values()),
                lost_by=lost,
                disturbed=["stolen"] * disturbed + ["late"] * (sent < intended),
            ),
        )
        return trial


def plan_of(settings: SearchSettings, of: CeilingKind = "connections") -> dict[str, object]:
    """The part of a manifest that a summary is made from."""
    return {
        "title": "Ceilings of a simulation",
        "cores": {"load": [0], "server": [1]},
        "ceiling": {"settings": {of: settings.model_dump(mode="json")}, "rounds": 1},
    }


def cut_after(number: int, measure: Measure) -> Callable[[float, float], TrialLoss]:
    """The same trials, but Ctrl-C during the one after `number` of them."""
    made = 0

    def cut(load: float, duration: float) -> TrialLoss:
        nonlocal made
        if made == number:
            raise KeyboardInterrupt
        made += 1
        return measure(load, duration)

    return cut
