"""The gate: measures until the trials decide, within the planned time, and records the result.

It tests the trials at several checkpoints and ends as soon as they decide. Every checkpoint is a
separate statistical test, so the allowed error rate is divided among them (Bonferroni).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Literal

from stackcost.analysis.comparing.between_runs import of_history
from stackcost.analysis.trial.thresholds import RATE
from stackcost.bed.lock import lock_when_free
from stackcost.contracts.words import count
from stackcost.experiment.matrix import Variant
from stackcost.gate.baseline import (
    Baseline,
    Place,
    place_of,
    read_baseline,
    setup_of,
    write_baseline,
)
from stackcost.gate.figure import CEILING, Judged
from stackcost.gate.history import HISTORY, Entry, append, read_history
from stackcost.gate.measure import GateRun, ThisMachine
from stackcost.gate.trial import GateTrial, comparable, left_out, left_out_words, too_few
from stackcost.gate.verdict import Verdict, against_baseline, against_number
from stackcost.gate.words import COUNT_INSTEAD, baseline_sentence, explain, sentence

GateOutcome = Literal["holds", "below", "above", "cannot tell", "no baseline", "baseline written"]
LOCK_TIMEOUT_S = 3600.0  # tests in other processes may have to measure first
OVERLOAD = 1.3  # offered load / the wanted rate for whole cores
ATTEMPTS = 2  # most trials that are made for one comparable trial
TOLD = 5  # trials between two lines about how far it is

Say = Callable[[str], None]


def measure_until_decided(
    measure: Callable[[], GateTrial],
    judge: Callable[[list[GateTrial], float], Verdict],
    checkpoints: tuple[int, ...],
    say: Say = lambda line: None,
) -> tuple[Verdict, list[GateTrial]]:
    """Measure until `judge` decides. Returns the verdict and the trials.

    `judge`: gives the verdict on all trials so far, at the error rate of one checkpoint. `say`:
    shows what is being done.
    """
    trials: list[GateTrial] = []
    for checkpoint in checkpoints:
        say(f"measuring, verdict after {count(checkpoint, 'trial')} at the earliest")
        measure_comparable(trials, measure, checkpoint, say)
        verdict = judge(trials, RATE / len(checkpoints))
        if verdict.outcome != "cannot tell":
            break
    return verdict, trials


def measure_comparable(
    trials: list[GateTrial],
    measure: Callable[[], GateTrial],
    wanted: int,
    say: Say = lambda line: None,
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


def _set_aside(run: GateRun, trials: list[GateTrial], before: Sequence[GateTrial] = ()) -> None:
    """Mark what is not judged in the run's folder, so that no figure uses it."""
    for at, reason in left_out(trials, before).items():
        run.folder.set_aside([trials[at].number], reason)


@dataclass(frozen=True, slots=True)
class GateResult:
    """The result of a gate. `sentence`: one line; `text`: the sentence and its explanation.

    `baseline`: the name of the file that was compared with or written. `run`: the folder with all
    readings. Both are empty if there is none.
    """

    outcome: GateOutcome
    sentence: str
    text: str
    verdict: Verdict | None = None
    baseline: str = ""
    run: str = ""


@dataclass(frozen=True, slots=True)
class Gate:
    """The gate of one figure of one system.

    `experiment`: its name. `folder`: holds the baselines and the history. `checkpoints`: as those
    of the figure. `test`: the id of the pytest test that uses it. `say`: shows what is being done,
    one line at a time.
    """

    experiment: str
    target: Variant
    figure: Judged
    machine: ThisMachine
    folder: Path
    checkpoints: tuple[int, ...]
    test: str
    say: Say

    def write_baseline(self) -> GateResult:
        """Measure a new baseline, which later trials are compared with."""
        with self._open(None) as run:
            most = self.checkpoints[-1]
            self._tell(f"{count(most, *self.figure.trial)} for the baseline")
            trials = measure_comparable([], run.measure, most, self._tell)
            _set_aside(run, trials)
            baseline = Baseline(
                experiment=self.experiment,
                system=self.target.name,
                figure=self.figure.title,
                place=self._place.words,
                load=run.load,
                trials=trials,
                setup=setup_of(run.folder.manifest(), self.target.name),
            )
            folder = str(run.folder.path)
        if few := too_few(trials):
            why = f"no baseline was written, because {few}. {COUNT_INSTEAD}"
            said = f"{self.target.name}: cannot tell: {why}"
            return GateResult("cannot tell", said, said, run=folder)
        write_baseline(self._path, baseline)
        value = baseline_sentence(trials, self.figure)
        said = f"{self.target.name}: {value}, written to {self._path}"
        result = GateResult("baseline written", said, said, None, self._path.name, folder)
        return self._remembered(result, comparable(trials))

    def against_baseline(self, tolerance: float) -> GateResult:
        """Compare new trials with the baseline: a rate with it less `tolerance`, a cost with it and
        the tolerance.
        """
        path = self._path
        if not path.is_file():
            return self._no_baseline()
        baseline, history = read_baseline(path), self.folder / HISTORY
        known = read_history(history) if history.is_file() else []
        of = self.target.name, self.experiment, self.figure.title, self._place.key
        spread = of_history(
            [
                median(each.values)
                for each in known
                if (each.system, each.experiment, each.figure, each.machine) == of
            ]
        )
        return self._judge(
            baseline.load,
            lambda now, rate: against_baseline(
                self.figure, baseline.trials, now, tolerance, rate, spread
            ),
            baseline,
        )

    def at_least(self, number: float) -> GateResult:
        """Compare new trials with a number of connections/s."""
        load = None if self.figure == CEILING else OVERLOAD * number
        return self._judge(
            load, lambda now, rate: against_number(self.figure, now, number, rate), None
        )

    def _judge(
        self,
        load: float | None,
        judge: Callable[[list[GateTrial], float], Verdict],
        baseline: Baseline | None,
    ) -> GateResult:
        """Measure and judge. `load`: None for the one that is found."""
        with self._open(load) as run:
            verdict, now = measure_until_decided(run.measure, judge, self.checkpoints, self._tell)
            setup, folder = setup_of(run.folder.manifest(), self.target.name), str(run.folder.path)
            before = baseline.trials if baseline else []
            _set_aside(run, now, before)
        told = sentence(verdict, self.figure, left_out_words(now, before))
        said = f"{self.target.name}: {told}"
        text = explain(said, self.figure, verdict, now, baseline, setup, folder)
        name = self._path.name if baseline else ""
        result = GateResult(verdict.outcome, said, text, verdict, name, folder)
        return self._remembered(result, comparable(now, before))

    @contextmanager
    def _open(self, load: float | None) -> Iterator[GateRun]:
        """A run of trials, while no other run is active if its bed is here; says what it waits for.

        A guest that counts is disturbed by no other run.
        """
        opened = self.machine.open(self.target, self.figure, load, self._tell)
        if not self.target.experiment.uses_this_machine:
            with opened as run:
                yield run
            return
        with (
            lock_when_free(
                lambda busy: self._tell(f"waiting for at most an hour: {busy}"), LOCK_TIMEOUT_S
            ),
            opened as run,
        ):
            yield run

    def _no_baseline(self) -> GateResult:
        place = self._place
        said = (
            f"{self.target.name}: {self.folder} has no baseline for this {place.what} "
            f"({place.words})"
        )
        if others := sorted(self.folder.glob(f"{self._stem}@*.json")):
            known = "; ".join(f"{each.place}, {each.taken}" for each in map(read_baseline, others))
            said += f". It has baselines for other {place.what}s: {known}"
        said += f". To measure {self._path.name}, run: pytest --stackcost-update-baseline"
        return GateResult("no baseline", said, said)

    @property
    def _place(self) -> Place:
        return place_of(self.figure, self.target, self.machine.describe())

    @property
    def _path(self) -> Path:
        return self.folder / f"{self._stem}@{self._place.key}.json"

    @property
    def _stem(self) -> str:
        """What the names of its baselines begin with."""
        named = f"{self.experiment}-{self.target.name}{self.figure.suffix}"
        return re.sub(r"[^\w.-]+", "-", named)

    def _tell(self, line: str) -> None:
        self.say(f"{self.target.name}: {line}")

    def _remembered(self, result: GateResult, trials: list[GateTrial]) -> GateResult:
        """The result, with a line of the history; without one if all trials were disturbed."""
        if trials:
            entry = Entry(
                test=self.test,
                experiment=self.experiment,
                system=self.target.name,
                figure=self.figure.title,
                machine=self._place.key,
                outcome=result.outcome,
                ratio=result.verdict.compared.ratio if result.verdict else None,
                values=[trial.figures[self.figure.name] for trial in trials],
                commit=str(self.machine.describe().get("source", {}).get("commit")),
                run=result.run,
            )
            append(self.folder / HISTORY, entry)
        return result
