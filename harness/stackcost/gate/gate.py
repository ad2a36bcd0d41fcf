"""The gate: measures until the trials decide, within the planned time, and records the result.

It tests the trials at several checkpoints and ends as soon as they decide. Every checkpoint is a
separate statistical test, so the allowed error rate is divided among them (Bonferroni).
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from stackcost.analysis.thresholds import RATE
from stackcost.bed.lock import lock_when_free
from stackcost.contracts.words import count
from stackcost.experiment.matrix import Variant
from stackcost.gate.baseline import (
    Baseline,
    Fingerprint,
    baseline_path,
    fingerprint,
    in_words,
    key,
    of_other_machines,
    read_baseline,
    write_baseline,
)
from stackcost.gate.bench import Bench
from stackcost.gate.figure import CEILING, Figure
from stackcost.gate.history import HISTORY, Entry, append, between, read_history
from stackcost.gate.trial import GateTrial, comparable, left_out, left_out_words, too_few
from stackcost.gate.verdict import Verdict, against_baseline, against_number
from stackcost.gate.words import COUNT_INSTEAD, TRIAL, baseline_sentence, explain, sentence

GateOutcome = Literal["holds", "below", "cannot tell", "no baseline", "baseline written"]
LOCK_TIMEOUT_S = 3600.0  # tests in other processes may have to measure first
OVERLOAD = 1.3  # offered load / the wanted rate for whole cores


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured. `checkpoints`: numbers of trials after which the trials are tested.

    A baseline has as many trials as the last checkpoint.
    """

    checkpoints: tuple[int, ...]


ATTEMPTS = 2  # most trials that are made for one comparable trial
TOLD = 5  # trials between two lines about how far it is
FULL = Effort(checkpoints=(6, 10, 14, 20))
QUICK = Effort(checkpoints=(8,))
# A search takes as long as several trials. Against a number, fewer than nine cannot tell.
FULL_SEARCHES = Effort(checkpoints=(9, 14))


def effort(figure: Figure, quick: bool) -> Effort:
    """How much is measured by default, or with `--stackcost-quick`."""
    if quick:
        return QUICK
    return FULL_SEARCHES if figure == CEILING else FULL


def measure_until_decided(
    measure: Callable[[], GateTrial],
    judge: Callable[[list[GateTrial], float], Verdict],
    checkpoints: tuple[int, ...],
    say: Callable[[str], None] = lambda line: None,
) -> tuple[Verdict, list[GateTrial]]:
    """Measure until `judge` decides. Returns the verdict and the trials.

    `judge`: gives the verdict on all trials so far, at the error rate of one checkpoint. `say`:
    shows what is being done.
    """
    trials: list[GateTrial] = []
    for checkpoint in checkpoints:
        say(f"measuring, verdict after {checkpoint} trials at the earliest")
        measure_comparable(trials, measure, checkpoint, say)
        verdict = judge(trials, RATE / len(checkpoints))
        if verdict.outcome != "cannot tell":
            break
    return verdict, trials


def measure_comparable(
    trials: list[GateTrial],
    measure: Callable[[], GateTrial],
    wanted: int,
    say: Callable[[str], None] = lambda line: None,
) -> list[GateTrial]:
    """Add trials until `wanted` of them are comparable.

    It stops after `ATTEMPTS` times as many trials, because a host may never be quiet. `say`: shows
    how far it is.
    """
    while (good := len(comparable(trials))) < wanted and len(trials) < ATTEMPTS * wanted:
        if trials and len(trials) % TOLD == 0:
            told = f"{len(trials)} trials made, {good} of them comparable; {wanted} are wanted"
            most = ATTEMPTS * wanted
            if good * most < wanted * len(trials):
                told += f", and will not be had in {most} at this rate: {left_out_words(trials)}"
            say(told)
        trials.append(measure())
    return trials


@dataclass(frozen=True, slots=True)
class GateResult:
    """The result of a gate. `sentence`: one line; `text`: the sentence and its explanation.

    `baseline`: the name of the file that was compared with or written; empty if there is none.
    """

    outcome: GateOutcome
    figure: Figure
    sentence: str
    text: str
    verdict: Verdict | None = None
    baseline: str = ""
    folder: str = ""


class MeasuringMachine(Protocol):
    """The machine that measures: this machine, or a simulated one in tests."""

    def describe(self) -> dict[str, Any]:
        """The machine as `stackcost.collect.machine` describes it."""

    def open(self, target: Variant, figure: Figure) -> AbstractContextManager[Bench]:
        """Open a bench for one figure of one system."""


@dataclass(frozen=True, slots=True)
class Gate:
    """The gate of one figure of one system.

    `folder`: holds the baselines and the history. `test`: the id of the pytest test that uses it.
    `say`: shows what is being done, one line at a time.
    """

    experiment: str
    target: Variant
    figure: Figure
    machine: MeasuringMachine
    folder: Path
    effort: Effort
    test: str
    say: Callable[[str], None]

    def write_baseline(self) -> GateResult:
        """Measure a new baseline, which later trials are compared with."""
        machine = fingerprint(self.machine.describe())
        path = self._path(machine)
        with self._alone(), self.machine.open(self.target, self.figure) as bench:
            self.say(f"{self.target.name}: looking for the load of the baseline")
            load = bench.steady_load()
            most = count(self.effort.checkpoints[-1], *TRIAL[self.figure])
            self.say(f"{self.target.name}: {most} for the baseline")
            trials = measure_comparable(
                [], lambda: bench.measure(load), self.effort.checkpoints[-1], self.say
            )
            baseline = Baseline(
                experiment=self.experiment,
                system=self.target.name,
                figure=self.figure,
                machine=machine,
                offered_cps=load,
                trials=trials,
                setup=bench.setup(),
            )
            bench.set_aside(left_out(trials))
            folder = bench.folder
        if few := too_few(trials):
            why = f"no baseline was written, because {few}. {COUNT_INSTEAD}"
            said = f"{self.target.name}: cannot tell: {why}"
            return GateResult("cannot tell", self.figure, said, said, folder=folder)
        write_baseline(path, baseline)
        value = baseline_sentence(trials, self.figure)
        said = f"{self.target.name}: {value}, written to {path}"
        result = GateResult(
            "baseline written", self.figure, said, said, baseline=path.name, folder=folder
        )
        self._remember(result, comparable(trials))
        return result

    def not_below_baseline(self, tolerance: float) -> GateResult:
        """Compare new trials with this machine's baseline less `tolerance`."""
        machine = fingerprint(self.machine.describe())
        path = self._path(machine)
        if not path.is_file():
            return self._no_baseline()
        baseline, history = read_baseline(path), self.folder / HISTORY
        known = read_history(history) if history.is_file() else []
        spread = between(known, self.target.name, self.experiment, self.figure, key(machine))
        return self._judge(
            baseline.offered_cps,
            lambda now, rate: against_baseline(baseline.trials, now, tolerance, rate, spread),
            baseline,
        )

    def at_least(self, number: float) -> GateResult:
        """Compare new trials with a number of connections/s."""
        load = None if self.figure == CEILING else OVERLOAD * number
        return self._judge(load, lambda now, rate: against_number(now, number, rate), None)

    def _judge(
        self,
        offered_cps: float | None,
        judge: Callable[[list[GateTrial], float], Verdict],
        baseline: Baseline | None,
    ) -> GateResult:
        """Measure and judge. `offered_cps`: None for the load that the bench finds."""
        with self._alone(), self.machine.open(self.target, self.figure) as bench:
            load = bench.steady_load() if offered_cps is None else offered_cps
            verdict, now = measure_until_decided(
                lambda: bench.measure(load),
                judge,
                self.effort.checkpoints,
                lambda line: self.say(f"{self.target.name}: {line}"),
            )
            before = baseline.trials if baseline else []
            bench.set_aside(left_out(now, before))
            said = (
                f"{self.target.name}: {sentence(verdict, self.figure, left_out_words(now, before))}"
            )
            text = explain(said, self.figure, verdict, now, baseline, bench.setup(), bench.folder)
            name = self._path(baseline.machine).name if baseline else ""
            result = GateResult(
                verdict.outcome, self.figure, said, text, verdict, name, bench.folder
            )
        self._remember(result, comparable(now, before))
        return result

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No other run is active; says so while it waits for one to end."""
        waiting = f"{self.target.name}: waiting for at most an hour: "
        with lock_when_free(lambda busy: self.say(waiting + busy), LOCK_TIMEOUT_S):
            yield

    def _no_baseline(self) -> GateResult:
        here = fingerprint(self.machine.describe())
        others = of_other_machines(self.folder, self.experiment, self.target.name, self.figure)
        said = (
            f"{self.target.name}: {self.folder} has no baseline for this machine ({in_words(here)})"
        )
        if others:
            known = "; ".join(f"{in_words(each.machine)}, {each.taken}" for each in others)
            said += f". It has baselines for other machines: {known}"
        said += ". To measure a baseline, run: pytest --stackcost-update-baseline"
        return GateResult("no baseline", self.figure, said, said)

    def _path(self, machine: Fingerprint) -> Path:
        return baseline_path(self.folder, self.experiment, self.target.name, self.figure, machine)

    def _remember(self, result: GateResult, trials: list[GateTrial]) -> None:
        if not trials:
            return  # all were disturbed
        append(
            self.folder / HISTORY,
            Entry.of(
                trials,
                test=self.test,
                experiment=self.experiment,
                system=self.target.name,
                figure=self.figure,
                machine=key(fingerprint(self.machine.describe())),
                outcome=result.outcome,
                ratio=result.verdict.ratio if result.verdict else None,
                commit=str(self.machine.describe().get("source", {}).get("commit")),
                run=result.folder,
            ),
        )
