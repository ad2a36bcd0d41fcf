"""A system under test with a known ceiling, on no machine: trials as a search stores them."""

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from stackcost.analysis.ceiling.controller import Measure, TrialLoss
from stackcost.analysis.ceiling.settings import SearchSettings
from stackcost.analysis.ceiling.stored import decisive, needs_repeat, trial_loss
from stackcost.contracts.counts import Schedule
from stackcost.contracts.load import CeilingKind, HeldFlows, Loss, SearchStep
from stackcost.contracts.trial import Trial
from tests.analysis.trials import SUSTAIN, load_trial

BETWEEN_TRIALS_S = 2.3
DRIFT_S = 900.0  # one period
NEIGHBOUR_EVERY_S, NEIGHBOUR_STAYS_S = 90.0, 8.0  # on average
NEIGHBOUR_TAKES = (0.02, 0.15)  # of the server's speed
NEIGHBOUR_SEEN = 0.02  # of a trial; the machine says so from here on
LONGEST_SEARCH_S = 4000.0


@dataclass
class Simulated:
    """Takes `ceiling` per second, give or take `noise` (standard deviation, a share of it).

    `generator`: what its generator can offer per second; it says so in a trial that asks for more.
    `hiccup`: share of the trials in which the machine is disturbed and a twentieth is lost for it.
    `drift`: by this share it takes more and less, slowly. `neighbours`: so many other machines come
    and go, and slow it; what is little of a trial, the machine does not see.
    """

    ceiling: float
    noise: float = 0.0
    generator: float = float("inf")
    hiccup: float = 0.0
    drift: float = 0.0
    neighbours: int = 0
    of: CeilingKind = "connections"
    repeats: int = 2
    seed: int = 1
    trials: list[Trial] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._now = 0.0
        self._phase = random.Random(self.seed + 1).uniform(0, 2 * math.pi) if self.drift else 0.0
        self._slow = [each for n in range(self.neighbours) for each in self._visits(n)]
        self._took: list[float] = []

    def truth(self, allowed: float) -> float:
        """The load of which half of the undisturbed trials lose at most the share `allowed`."""
        return sum(self._took) / len(self._took) / (1 - allowed)

    def _visits(self, neighbour: int) -> Iterator[tuple[float, float, float]]:
        """Begin, end, and the taken share of each visit."""
        drawn, at = random.Random(1000 * self.seed + neighbour), 0.0
        while (at := at + drawn.expovariate(1 / NEIGHBOUR_EVERY_S)) < LONGEST_SEARCH_S:
            stays = drawn.expovariate(1 / NEIGHBOUR_STAYS_S)
            yield at, at + stays, drawn.uniform(*NEIGHBOUR_TAKES)
            at += stays

    def _slowed(self, duration: float) -> float:
        """The share that neighbours take of a trial that begins now; then the next one begins."""
        begin, end = self._now, self._now + duration
        self._now = end + BETWEEN_TRIALS_S
        return sum(
            max(0.0, min(end, until) - max(begin, since)) / duration * share
            for since, until, share in self._slow
        )

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
        drifted = 1 + self.drift * math.sin(2 * math.pi * self._now / DRIFT_S + self._phase)
        self._took.append(self.ceiling * drifted)
        slowed = self._slowed(duration)
        takes = self._took[-1] * self._random.gauss(1, self.noise) * (1 - slowed) * span
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
                disturbed=["stolen"] * disturbed
                + ["slowed"] * (slowed > NEIGHBOUR_SEEN)
                + ["late"] * (sent < intended),
            ),
        )
        return trial


def plan_of(settings: SearchSettings, of: CeilingKind = "connections") -> dict[str, object]:
    """The part of a manifest that a summary is made from."""
    return {
        "title": "Ceilings of a simulation",
        "cores": {"load": [0], "server": [1]},
        "dut": {"device": None},
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
