"""Runs an experiment: every trial is stored as soon as it is over, whatever happens next."""

import shutil
from pathlib import Path
from typing import Any

from rich.console import Console

from harness.analysis.checks import is_hold
from harness.collect.machine import describe_machine
from harness.errors import StackcostError
from harness.experiment.hold_trial import run_hold_trial
from harness.experiment.load_trial import prepare_load, run_load_trial
from harness.experiment.plan import SETUP_S, Turn, plan, planned_seconds, seconds_of
from harness.experiment.progress import Progress
from harness.experiment.schema import Experiment
from harness.experiment.session import Session, open_session
from harness.model import Trial
from harness.store import Manifest, RunFolder
from harness.store.manifest import utc_now
from harness.testbed.local import check_root
from harness.testbed.lock import RunLock
from harness.testbed.signals import ending_signals_raise


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
        manifest = Manifest(
            run=run.name,
            command=command,
            experiment=experiment.model_dump(mode="json"),
            machine=describe_machine(),
        )
        run.write_manifest(manifest)
        try:
            with Progress(planned_seconds(experiment), console) as progress:
                _Runner(experiment, run, manifest, progress).run()
            manifest.state = "complete"
        except KeyboardInterrupt:
            manifest.state = "interrupted"
        except StackcostError as error:
            manifest.state = "failed"
            raise _with_folder(error, run) from error
        finally:
            _finish(run, manifest)
    return run


def _with_folder(error: StackcostError, run: RunFolder) -> StackcostError:
    """The error, and where the trials before it are."""
    if not run.trials():
        return error
    kept = f"the trials before it are kept: stackcost report {run.path}"
    return StackcostError(error.what, f"{error.mend}; {kept}" if error.mend else kept)


def _finish(run: RunFolder, manifest: Manifest) -> None:
    """Complete the manifest; of a run that failed before its first trial nothing is kept."""
    if manifest.state == "running":  # an error of ours
        manifest.state = "failed"
    if manifest.state == "failed" and not run.trials():
        shutil.rmtree(run.path)
        return
    manifest.finished = utc_now()
    manifest.machine_after = describe_machine()
    run.write_manifest(manifest)


class _Runner:
    """The state of one run: how many of the planned seconds are behind it."""

    def __init__(
        self, experiment: Experiment, run: RunFolder, manifest: Manifest, progress: Progress
    ):
        self._experiment = experiment
        self._run = run
        self._manifest = manifest
        self._progress = progress
        self._reached = 0.0

    def run(self) -> None:
        for turn in plan(self._experiment):
            folder = self._run.path / "logs" / f"{turn.round}-{turn.server.replace('/', '-')}"
            where = f"round {turn.round} of {self._experiment.rounds}, {turn.server}"
            try:
                with open_session(
                    turn.server, self._experiment, folder, where, self._progress
                ) as session:
                    self._pass(SETUP_S)
                    self._describe(turn, session)
                    self._run_turn(turn, session)
            except StackcostError as error:
                raise StackcostError(f"{where}: {error.what}", error.mend) from error

    def _run_turn(self, turn: Turn, session: Session) -> None:
        for trial in turn.holds:
            session.say(f"{trial.load['open_flows']:,} flows held open")
            self._run_trial(session, trial)
        prepare_load(session)
        for trial in turn.loads:
            session.say(f"{trial.offered_cps:,.0f} connections/s")
            self._run_trial(session, trial)

    def _run_trial(self, session: Session, trial: Trial) -> None:
        """Run and store a trial; one that is cut short is stored too, with a flag that says so."""
        trial.load["response_bytes"] = session.response_bytes
        try:
            (run_hold_trial if is_hold(trial) else run_load_trial)(session, trial)
        except BaseException:
            trial.flags.append("cut short")
            raise
        finally:
            if trial.samples:
                self._run.add_trial(trial)
        self._pass(seconds_of(trial, self._experiment))

    def _pass(self, seconds: float) -> None:
        self._reached += seconds
        self._progress.reach(self._reached)

    def _describe(self, turn: Turn, session: Session) -> None:
        """Put into the manifest what this turn runs on; the same in every round."""
        described: dict[str, Any] = session.describe()
        self._manifest.test_bed[turn.server] = described["test_bed"]
        self._manifest.servers[turn.server] = described["server"]
        self._manifest.servers["generator"] = described["generator"]
        self._run.write_manifest(self._manifest)
