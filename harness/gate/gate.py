"""The gate: measures until it can tell, at most as long as planned, and remembers what it saw.

It looks at the trials several times and ends as soon as they tell. A look is a test of its own, so
each has its part of the rate at which the whole may be wrong (Bonferroni).
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from stackcost.analysis.thresholds import RATE
from stackcost.harness.bed.lock import RunLock
from stackcost.harness.experiment.matrix import Variant
from stackcost.harness.gate.baseline import (
    Baseline,
    baseline_path,
    of_other_machines,
    read_baseline,
    write_baseline,
)
from stackcost.harness.gate.bench import Bench
from stackcost.harness.gate.fingerprint import fingerprint, in_words, key
from stackcost.harness.gate.history import HISTORY, Entry, append
from stackcost.harness.gate.trial import GateTrial, comparable, judged, left_out
from stackcost.harness.gate.verdict import Verdict, against_baseline, against_ceiling
from stackcost.harness.gate.words import baseline_sentence, explain, sentence

Outcome = Literal["holds", "below", "cannot tell", "no baseline", "baseline written"]
LOCK_PATIENCE_S = 3600.0  # other tests, in other processes, measure first
OVERLOAD = 1.3  # offered load over the number that is to be reached


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured: after how many trials it looks whether it can tell.

    A baseline has the trials of all looks.
    """

    looks: tuple[int, ...]


ATTEMPTS = 2  # trials for each that can be compared
FULL = Effort(looks=(6, 10, 14, 20))
QUICK = Effort(looks=(8,))


def measure_until_told(
    measure: Callable[[], GateTrial],
    judge: Callable[[list[GateTrial], float], Verdict],
    looks: tuple[int, ...],
) -> tuple[Verdict, list[GateTrial]]:
    """Trials and the verdict on them. `judge`: of all trials so far, at the rate of one look."""
    trials: list[GateTrial] = []
    for look in looks:
        measure_more(trials, measure, look)
        verdict = judge(trials, RATE / len(looks))
        if verdict.outcome != "cannot tell":
            break
    return verdict, trials


def measure_more(
    trials: list[GateTrial], measure: Callable[[], GateTrial], wanted: int
) -> list[GateTrial]:
    """Until so many can be compared, or twice as many were made: a host may never be quiet."""
    while len(comparable(trials)) < wanted and len(trials) < ATTEMPTS * wanted:
        trials.append(measure())
    return trials


@dataclass(frozen=True, slots=True)
class Result:
    """What a gate says. `sentence`: in a line; `text`: with all that explains it."""

    outcome: Outcome
    sentence: str
    text: str
    verdict: Verdict | None = None
    folder: str = ""


class Place(Protocol):
    """Where is measured: this machine, or in tests one that is made up."""

    def machine(self) -> dict[str, Any]:
        """As `stackcost.collect.machine` describes it."""

    def open(self, target: Variant) -> AbstractContextManager[Bench]:
        """A bench for one system."""


@dataclass(frozen=True, slots=True)
class Gate:
    """The gate of one system. `folder`: of baselines and the history. `test`: who asks."""

    experiment: str
    target: Variant
    place: Place
    folder: Path
    effort: Effort
    test: str

    def write_baseline(self) -> Result:
        """Measure anew what later trials are held against."""
        machine = fingerprint(self.place.machine())
        path = baseline_path(self.folder, self.experiment, self.target.name, machine)
        with RunLock(LOCK_PATIENCE_S), self.place.open(self.target) as bench:
            load = bench.steady_load()
            trials = measure_more([], lambda: bench.measure(load), self.effort.looks[-1])
            baseline = Baseline(
                experiment=self.experiment,
                system=self.target.name,
                machine=machine,
                offered_cps=load,
                trials=trials,
                setup=bench.setup(),
            )
            bench.set_aside(left_out(trials))
            folder = bench.folder
        write_baseline(path, baseline)
        said = f"{self.target.name}: {baseline_sentence(trials)}, written to {path}"
        result = Result("baseline written", said, said, folder=folder)
        self._remember(result, judged(trials))
        return result

    def not_below_baseline(self, tolerance: float) -> Result:
        """Hold this machine's baseline, less `tolerance`, against as many trials as it takes."""
        machine = fingerprint(self.place.machine())
        path = baseline_path(self.folder, self.experiment, self.target.name, machine)
        if not path.is_file():
            return self._no_baseline()
        baseline = read_baseline(path)
        return self._judge(
            baseline.offered_cps,
            lambda now, rate: against_baseline(baseline.trials, now, tolerance, rate),
            baseline,
        )

    def at_least(self, ceiling: float) -> Result:
        """Hold a number of connections/s against as many trials as it takes."""
        return self._judge(
            OVERLOAD * ceiling, lambda now, rate: against_ceiling(now, ceiling, rate), None
        )

    def _judge(
        self,
        offered_cps: float,
        judge: Callable[[list[GateTrial], float], Verdict],
        baseline: Baseline | None,
    ) -> Result:
        with RunLock(LOCK_PATIENCE_S), self.place.open(self.target) as bench:
            verdict, now = measure_until_told(
                lambda: bench.measure(offered_cps), judge, self.effort.looks
            )
            before = baseline.trials if baseline else []
            bench.set_aside(left_out(now, before))
            said = f"{self.target.name}: {sentence(verdict)}"
            text = explain(said, verdict, now, baseline, bench.setup(), bench.folder)
            result = Result(verdict.outcome, said, text, verdict, bench.folder)
        self._remember(result, judged(now, before))
        return result

    def _no_baseline(self) -> Result:
        here = fingerprint(self.place.machine())
        others = of_other_machines(self.folder, self.experiment, self.target.name)
        said = (
            f"{self.target.name}: no baseline of this machine ({in_words(here)}) in {self.folder}"
        )
        if others:
            known = "; ".join(f"{in_words(each.machine)}, {each.taken}" for each in others)
            said += f", but of other machines: {known}"
        said += ". Measure one: pytest --stackcost-update-baseline"
        return Result("no baseline", said, said)

    def _remember(self, result: Result, trials: list[GateTrial]) -> None:
        append(
            self.folder / HISTORY,
            Entry.of(
                trials,
                test=self.test,
                experiment=self.experiment,
                system=self.target.name,
                machine=key(fingerprint(self.place.machine())),
                outcome=result.outcome,
                ratio=result.verdict.ratio if result.verdict else None,
                commit=str(self.place.machine().get("source", {}).get("commit")),
                run=result.folder,
            ),
        )
