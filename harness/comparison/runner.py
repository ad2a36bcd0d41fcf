"""Runs an experiment: every trial is stored as soon as it is over, whatever happens next."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from harness.bed.local import check_root
from harness.bed.lock import RunLock
from harness.bed.signals import ending_signals_raise
from harness.campaign.attempts import storing, until_undisturbed
from harness.campaign.identity import check_resumable, experiment_hash, profile_hashes
from harness.campaign.recorded import record_session, recorded
from harness.comparison.concurrency import find_concurrency
from harness.comparison.plan import Turn, identity, plan, planned_seconds, seconds_of, setup_seconds
from harness.experiment.matrix import variants
from harness.experiment.schema import Experiment
from harness.search.slowest import lowest_ceilings
from harness.session.hold_trial import run_hold_trial
from harness.session.http_session import HttpSession, open_http_session
from harness.session.http_trial import run_http_trial
from harness.session.load_trial import prepare_load, run_load_trial
from harness.session.progress import Progress
from harness.session.server_session import ServerSession
from harness.session.session import Session, open_session
from harness.systems.registry import server_class
from stackcost.analysis.checks import is_hold
from stackcost.analysis.flags import disturbances
from stackcost.analysis.flows import failed
from stackcost.analysis.http import p99_us
from stackcost.analysis.machines import differences
from stackcost.analysis.published import read_publication
from stackcost.analysis.readings import Readings
from stackcost.collect.machine import describe_machine
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.load import HeldFlows, HttpClients
from stackcost.contracts.trial import Trial
from stackcost.store import Manifest, RunFolder
from stackcost.store.manifest import LoadsFound, Resumption

REPEATS = 1  # of a trial that the generator or the machine disturbed
# Of the trials so far, how many more are made at most: a machine that disturbs all of them is not
# mended by repeating, and the run has to end in its time.
REPEATED_SHARE = 0.25


def run_experiment(
    experiment: Experiment, name: str, results: Path, command: list[str], console: Console
) -> RunFolder:
    """Run all trials and store them under `results`; returns the run's folder.

    Ctrl-C ends it with a folder too: its manifest says "interrupted", and it holds what was
    measured. StackcostError when a trial cannot be made; a folder without any trial is removed.
    """
    check_root()
    with RunLock(), ending_signals_raise():
        run = RunFolder.create(results, name)
        systems = variants(experiment)
        manifest = Manifest(
            run=run.name,
            command=command,
            experiment=experiment.model_dump(mode="json"),
            experiment_hash=experiment_hash(experiment),
            profile_hashes=profile_hashes(experiment),
            machine=describe_machine(),
            systems=[each.name for each in systems if not each.lacking],
            publication=_publication(experiment.published),
            not_measured={each.name: each.lacking for each in systems if each.lacking},
        )
        _run_turns(experiment, run, manifest, console)
    return run


def resume_experiment(run: RunFolder, command: list[str], console: Console) -> RunFolder:
    """Run what an interrupted, failed or killed run is missing, in its folder.

    StackcostError when its plan, a profile, or the machine is no longer what it was.
    """
    check_root()
    with RunLock(), ending_signals_raise():
        manifest, machine = run.manifest(), describe_machine()
        experiment = check_resumable(manifest, machine)
        stored = run.trials()
        turns = plan(at_loads(experiment, manifest), stored, run.next_number())
        if turns:
            run.set_aside(_run_again(turns, stored), "its turn was cut short, and run again")
            manifest.resumed.append(
                Resumption(
                    command=command,
                    first_trial=max((trial.number for trial in stored), default=0) + 1,
                    changed=differences(manifest.machine, machine),
                )
            )
        manifest.state, manifest.finished, manifest.failure = "running", None, ""
        run.reserve()
        _run_turns(experiment, run, manifest, console)
    return run


def _publication(path: Path | None) -> dict[str, Any] | None:
    """Others' figures, for the manifest."""
    return read_publication(path).model_dump(mode="json") if path else None


def _run_again(turns: Sequence[Turn], stored: Sequence[Trial]) -> list[int]:
    """Numbers of stored trials of which a turn will make another."""
    again = {identity(trial) for turn in turns for trial in turn.trials}
    return [trial.number for trial in stored if identity(trial) in again]


def at_loads(experiment: Experiment, manifest: Manifest) -> Experiment:
    """The plan with rates in it: where it has shares, those that were found when the run began.

    Before they are found the shares themselves stand for as many rates.
    """
    if not experiment.load.offered_shares:
        return experiment
    found = manifest.loads_found
    return experiment.offering(found.offered_cps if found else experiment.load.offered_shares)


def _run_turns(
    experiment: Experiment, run: RunFolder, manifest: Manifest, console: Console
) -> None:
    """Find the loads, where that has not been done, and run every turn that is not stored."""
    with (
        recorded(run, manifest, "go on with: stackcost run --resume"),
        Progress(0.0, console) as progress,
    ):
        passed = _find_loads(experiment, run, manifest, progress)
        planned = at_loads(experiment, manifest)
        turns = plan(planned, run.trials())
        _Runner(planned, run, manifest, progress, turns, passed).run(turns)


def _find_loads(
    experiment: Experiment, run: RunFolder, manifest: Manifest, progress: Progress
) -> float:
    """Of a plan with shares; returns how many seconds that took."""
    shares = experiment.load.offered_shares
    if not shares or manifest.loads_found:
        return 0.0
    after = planned_seconds(plan(at_loads(experiment, manifest), run.trials()), experiment)
    systems = [each for each in variants(experiment) if not each.lacking]
    ceilings, passed = lowest_ceilings(systems, run, progress, after)
    rates = experiment.load.rates_of(min(ceilings.values()))
    manifest.loads_found = LoadsFound(ceilings=ceilings, offered_cps=rates)
    run.write_manifest(manifest)
    return passed


class _Runner:
    """The state of one run: how many of the planned seconds are behind it, and its repeats.

    `passed`: seconds that it has taken before its first turn.
    """

    def __init__(
        self,
        experiment: Experiment,
        run: RunFolder,
        manifest: Manifest,
        progress: Progress,
        turns: Sequence[Turn],
        passed: float,
    ):
        self._experiment = experiment
        self._run = run
        self._manifest = manifest
        self._progress = progress
        self._reached = passed
        self._seconds = passed + planned_seconds(turns, experiment)
        self._repeats = 0
        self._measured = self._disturbed = 0

    def run(self, turns: Sequence[Turn]) -> None:
        self._progress.expect(self._seconds)
        for turn in turns:
            variant = turn.variant
            name = re.sub(r"[^\w.-]", "-", variant.name)
            folder = self._run.path / "logs" / f"{turn.round}-{name}"
            where = f"round {turn.round} of {self._experiment.rounds}, {variant.name}"
            place = server_class(variant.server), variant.experiment, folder, where, self._progress
            try:
                if variant.experiment.http:
                    with open_http_session(*place) as http_session:
                        self._run_http_turn(turn, http_session)
                else:
                    with open_session(*place) as session:
                        self._run_turn(turn, session)
            except StackcostError as error:
                raise StackcostError(f"{where}: {error.what}", error.mend) from error

    def _run_turn(self, turn: Turn, session: Session) -> None:
        self._begin(turn, session)

        def make(trial: Trial) -> None:
            trial.response_bytes = session.response_bytes
            (run_hold_trial if is_hold(trial) else run_load_trial)(session, trial)

        for trial in turn.holds:
            assert isinstance(trial.load, HeldFlows)
            self._measure(session, trial, f"{trial.load.open_flows:,} flows held open", make)
        if turn.loads:
            prepare_load(session)
        for trial in turn.loads:
            self._measure(session, trial, f"{trial.offered_cps:,.0f} connections/s", make)

    def _run_http_turn(self, turn: Turn, session: HttpSession) -> None:
        self._begin(turn, session)
        for trial in turn.loads:
            assert isinstance(trial.load, HttpClients)
            what, connections = trial.load.test, None
            if session.http.concurrency:
                connections = self._find_connections(session, trial, what)
            if trial.load.offered_rps:
                what += f" at {trial.load.offered_rps:,.0f} requests/s"
            make = partial(run_http_trial, session, connections=connections)
            self._measure(session, trial, what, make)

    def _find_connections(self, session: HttpSession, planned: Trial, test: str) -> int:
        """Connections of each client process, by trials that are kept and in no figure."""
        http = session.http
        limit = http.concurrency
        assert limit is not None

        def holds(count: int) -> bool:
            self._repeats += 1
            trial = planned.as_planned(planned.number + self._repeats - 1)
            trial.set_aside = "a trial of the search for the concurrency"
            session.say(f"{test}: {count:,} connections at once?")
            with storing(self._run, session, trial):
                run_http_trial(session, trial, each(count), limit.trial_s)
            p99 = p99_us(trial)
            return p99 is not None and p99 < limit.p99_below_ms * 1000 and not failed(trial)

        def each(count: int) -> int:
            return max(1, count // http.processes)

        return each(find_concurrency(limit, holds))

    def _begin(self, turn: Turn, session: ServerSession) -> None:
        self._pass(setup_seconds(self._experiment))
        record_session(self._run, self._manifest, turn.variant.name, session)

    def _measure(
        self,
        session: ServerSession,
        planned: Trial,
        what: str,
        make: Callable[[Trial], None],
    ) -> None:
        """Run and store a trial; a disturbed one once more, and then it is in no figure.

        The last one counts even if it was disturbed as well: to choose by what came out would
        move the figures.
        """
        repeats = REPEATS if self._disturbed <= REPEATED_SHARE * self._measured else 0

        def attempt(repeat: int) -> Trial:
            session.say(what + (", again: it was disturbed" if repeat else ""))
            if repeat:
                self._repeats += 1
                self._seconds += seconds_of(planned, self._experiment)
                self._progress.expect(self._seconds)
            trial = planned.as_planned(planned.number + self._repeats)
            with storing(self._run, session, trial):
                make(trial)
            self._pass(seconds_of(trial, self._experiment))
            if trial.set_aside:
                self._manifest.not_measured[trial.server] = trial.set_aside
                self._run.write_manifest(self._manifest)
            return trial

        def disturbed(trial: Trial) -> list[str]:
            return disturbances(Readings(trial), session.experiment.cores.server)

        *disturbed_ones, last = until_undisturbed(attempt, disturbed, repeats)
        self._measured += 1
        self._disturbed += len(disturbed_ones)
        for trial in disturbed_ones:
            self._run.set_aside([trial.number], f"disturbed, repeated as trial {last.number}")

    def _pass(self, seconds: float) -> None:
        self._reached += seconds
        self._progress.reach(self._reached)
