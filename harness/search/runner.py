"""Runs searches on the test bed; every trial is stored as soon as it is over."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console

from harness.bed.local import check_root
from harness.bed.lock import RunLock
from harness.bed.signals import ending_signals_raise
from harness.campaign.order import in_turn
from harness.campaign.recorded import record_session, recorded
from harness.experiment.matrix import Variant
from harness.search.expected import seconds_left
from harness.search.measurer import Measurer
from harness.search.trials import prepare, seconds_of
from harness.session.progress import Progress
from harness.session.session import Session, open_session
from harness.systems.registry import server_class
from stackcost.analysis.ceiling.controller import Counted, search
from stackcost.analysis.ceiling.settings import Settings
from stackcost.analysis.ceiling.stored import Key
from stackcost.collect.cpu_account import Detail
from stackcost.collect.machine import describe_machine
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.load import Of
from stackcost.store import Manifest, RunFolder

TWIN_STEPS = (1, 2, 4)  # times the load at which the server lost something; until it loses as well
SETUP_S = 7.0
# To book softirqs and interrupts, too, would lower the ceiling by another half of a percent.
DETAIL = Detail.TASKS


@dataclass(frozen=True, slots=True)
class Task:
    """What a run searches for: each of `settings`' ceilings, of each target, `rounds` times."""

    targets: tuple[Variant, ...]
    settings: dict[Of, Settings]
    rounds: int

    def searches(self) -> list[tuple[Variant, Key]]:
        """All in their order: of each ceiling the targets in turn, A B B A over the rounds."""
        return [
            (target, Key(target.name, of, number))
            for number in range(1, self.rounds + 1)
            for of in self.settings
            for target in in_turn(self.targets, number)
            if not target.lacking
        ]

    def describe(self) -> dict[str, object]:
        """For the manifest, in the shape of an experiment with a part of its own."""
        return self.targets[0].experiment.model_dump(mode="json") | {
            "title": "Ceilings of " + ", ".join(target.name for target in self.targets),
            "servers": [target.name for target in self.targets],
            "ceiling": {
                "settings": {of: s.model_dump(mode="json") for of, s in self.settings.items()},
                "rounds": self.rounds,
                "experiments": {
                    target.name: target.experiment.model_dump(mode="json")
                    for target in self.targets
                },
            },
        }


def run_ceilings(
    task: Task, name: str, results: Path, command: list[str], console: Console
) -> RunFolder:
    """Do all searches and store their trials under `results`; returns the run's folder.

    Ctrl-C ends it with a folder too: its manifest says "interrupted", and it holds what was
    measured. StackcostError when a trial cannot be made.
    """
    check_root()
    with RunLock(), ending_signals_raise():
        run = RunFolder.create(results, name)
        manifest = Manifest(
            run=run.name,
            command=command,
            experiment=task.describe(),
            machine=describe_machine(),
            not_measured={each.name: each.lacking for each in task.targets if each.lacking},
        )
        with (
            recorded(run, manifest, "see them with: stackcost report"),
            Progress(0.0, console) as progress,
        ):
            _Runner(task, run, manifest, progress).run()
    return run


class _Runner:
    """The searches of one run, in their order."""

    def __init__(self, task: Task, run: RunFolder, manifest: Manifest, progress: Progress):
        self._task = task
        self._run = run
        self._manifest = manifest
        self._progress = progress
        self._measurer = Measurer(run, progress)

    def run(self) -> None:
        """All searches in their order; a twin once, after the first."""
        keys = self._task.searches()
        for place, (target, key) in enumerate(keys):
            after = sum(self._seconds_of_search(t, k, ()) for t, k in keys[place + 1 :])
            try:
                self._search(target, key, after)
            except StackcostError as error:
                where = f"{key.of} of {key.server}"
                raise StackcostError(f"{where}: {error.what}", error.mend) from error

    def _search(self, target: Variant, key: Key, after: float) -> None:
        """One search, and the twin's trials when it is the first of its kind."""
        settings = self._task.settings[key.of]
        so_far: list[tuple[float, Counted]] = []
        with self._session(target.server, target, key) as session:
            record_session(self._run, self._manifest, key.server, session)
            prepare(session, key.of)

            def measure(load: float, duration: float) -> Counted:
                self._measurer.expect(self._seconds_of_search(target, key, so_far) + after)
                result = self._measurer.measure(session, key, settings, load, duration)
                so_far.append((load, result))
                return result

            outcome = search(settings, measure)
        upper = outcome.bounds[settings.goals[0]].upper
        if key.round == 1 and _twin_of(target) != target.server:
            self._try_twin(target, key, upper or max(load for load, _ in so_far))

    def _try_twin(self, target: Variant, key: Key, load: float) -> None:
        """Offer the load that the server did not hold, and more, to a peer over the same path."""
        settings = self._task.settings[key.of]
        duration = settings.final_trial_duration
        with self._session(_twin_of(target), target, key) as session:
            prepare(session, key.of)
            for step in TWIN_STEPS:
                offered = min(step * load, settings.most_load)
                counted = self._measurer.measure(session, key, settings, offered, duration, True)
                if counted.lost or offered == settings.most_load:
                    break

    def _session(self, server: str, target: Variant, key: Key) -> AbstractContextManager[Session]:
        self._measurer.pass_seconds(SETUP_S)
        folder = f"{key.round}-{target.name}-{key.of}-{server}".replace("/", "-")
        where = f"{key.of} of {target.name}" + (" (twin)" if server != target.server else "")
        if self._task.rounds > 1:
            where = f"{key.round} of {self._task.rounds}, {where}"
        return open_session(
            server_class(server),
            target.experiment,
            self._run.path / "logs" / folder,
            where,
            self._progress,
            DETAIL,
        )

    def _seconds_of_search(
        self, target: Variant, key: Key, so_far: Sequence[tuple[float, Counted]]
    ) -> float:
        """Seconds still to come of one search, with its twin's trials."""
        settings = self._task.settings[key.of]
        seconds = partial(seconds_of, key.of, open_cps=target.experiment.memory.open_cps)
        left = seconds_left(settings, so_far, seconds) + (0 if so_far else SETUP_S)
        if key.round == 1 and _twin_of(target) != target.server:
            left += SETUP_S + 2 * seconds(settings.first_load, settings.final_trial_duration)
        return left


def _twin_of(target: Variant) -> str:
    """The server that shows what the generator and the path can do without the target's work."""
    return server_class(target.server).twin
