"""Runs the turns of a feed: it numbers, makes, repeats and stores trials, and shows progress."""

import re
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager

from stackcost.analysis.ceiling.stored import needs_repeat
from stackcost.analysis.cost.guest import why_no_time
from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.flags import disturbances
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.load import SearchStep
from stackcost.contracts.trial import CUT_SHORT, Trial
from stackcost.host.garbage import no_garbage_collection
from stackcost.hosts.clock import over_a_trial
from stackcost.runs.observers import OBSERVERS, telling_of_session, telling_of_trial
from stackcost.runs.turn import (
    Feed,
    PlannedTrial,
    PlannedTrials,
    Purpose,
    Result,
    Session,
    Turn,
)
from stackcost.runs.warnings import DisturbedInARow
from stackcost.servers.own_files import own_fault
from stackcost.session.progress import Plan, Progress
from stackcost.session.server_session import ServerSession
from stackcost.store import Manifest, RunFolder
from stackcost.store.manifest import LoadsFound


@contextmanager
def storing(run: RunFolder, session: ServerSession, trial: Trial) -> Iterator[None]:
    """Store a trial as soon as it ends. A trial that is cut short is marked and not used.

    A trial whose connections were not seen to go through the wanted stack is also marked and not
    used. StackcostError names the part of the session that ended, if one did.
    """
    trial.before = session.serving.before_trial()
    session.check_stack("before")
    clocks, asleep = session.serving.clocks(), _asleep_s()
    try:
        yield
        session.check_parts()
        trial.suspended_s = _asleep_s() - asleep
        _mark_stack(session, trial)
        trial.clocks = over_a_trial(clocks, session.serving.clocks())
    except BaseException as error:
        trial.set_aside = CUT_SHORT
        if isinstance(error, Exception):
            session.check_parts()  # if a part ended, that is the cause of the error
        raise
    finally:
        if trial.samples:
            run.add_trial(trial)


def _asleep_s() -> float:
    """Seconds since boot in which the machine was suspended (clock_gettime(2), CLOCK_BOOTTIME)."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)


def _mark_stack(session: ServerSession, trial: Trial) -> None:
    """Record which stack carried the connections, or would carry them in an idle trial."""
    session.check_stack("after")
    trial.stack_check = session.serving.stack_check(idle=trial.traffic.idle)
    trial.set_aside = of_another_stack(trial) or trial.set_aside


def of_another_stack(trial: Trial) -> str:
    """Which stack carried the connections, if it was not the wanted one; else empty."""
    found = ""
    for whose, stack_check in (
        ("", trial.stack_check),
        ("clients were ", trial.traffic.stack_check),
    ):
        if stack_check and stack_check.difference:
            found = f"{whose}{stack_check.difference}"
    return found


def require_wanted_stack(trial: Trial) -> None:
    """StackcostError unless the wanted stack carried the connections; ends a search or a gate."""
    if trial.stack_check and not trial.stack_check.as_wanted:
        raise StackcostError(f"{trial.server}: {trial.set_aside}")


# Highest share of repeats among the trials for figures so far. If a machine disturbs all trials,
# repeats do not help, and the run must end in its planned time.
REPEATED_SHARE = 0.25


class Repeats:
    """Decides about repeats for all trials of a run, and counts them.

    Every other judgement about a trial is made when the run is read.
    """

    def __init__(self) -> None:
        self._trials = self._repeats = 0

    def wanted(self, attempts: Sequence[Trial], purpose: Purpose, cpus: Collection[int]) -> bool:
        """Whether to repeat a trial. `attempts`: those so far, in order; `cpus`: the server's."""
        if len(attempts) > purpose.repeats or not (purpose.decides or self._affordable()):
            return False
        return _disturbed(attempts[-1], cpus)

    def count(self, attempts: Sequence[Trial], purpose: Purpose) -> None:
        """Count the repeats of a trial for a figure."""
        if purpose.repeats and not purpose.decides:
            self._trials += 1
            self._repeats += len(attempts) - 1

    def _affordable(self) -> bool:
        return self._repeats <= REPEATED_SHARE * self._trials


def _disturbed(trial: Trial, cpus: Collection[int]) -> bool:
    """Whether the generator or the machine disturbed the trial.

    One on an emulated host has no cost that a repeat could improve: counts and bytes are right.
    """
    if trial.load_as(SearchStep):
        return needs_repeat(trial)
    readings = Readings(trial, cpus)
    return not why_no_time(readings) and bool(disturbances(readings))


AGAIN = ", repeated because it was disturbed"


class Campaign:
    """An active run. harness/stackcost/runs/record.py starts it and records how it ends.

    `folder`: each trial is stored there as soon as it ends. `manifest`: as written last. `stored`:
    the earlier trials of a resumed run; new trials get higher numbers.
    """

    def __init__(
        self,
        folder: RunFolder,
        manifest: Manifest,
        progress: Progress,
        stored: Sequence[Trial] = (),
    ):
        self.folder = folder
        self.manifest = manifest
        self.stored = stored
        self._progress = progress
        self._number = next_number(folder, stored)
        self._repeats = Repeats()
        self._disturbed = DisturbedInARow()
        for each in OBSERVERS:
            each.begins(folder, str(manifest.experiment.get("title", "")), progress)

    def expect(self, turns: Sequence[Plan]) -> None:
        """The plan of a feed: of each turn that has not begun, in order."""
        self._progress.expect(turns)

    def run(self, feed: Feed[None]) -> None:
        """Run all turns of a feed, and send it the result of each turn."""
        with closing(feed):
            try:
                turn = next(feed)
                while True:
                    turn = feed.send(self.take(turn))
            except StopIteration:
                return

    def take(self, turn: Turn[Session, Result]) -> Result:
        """Run one turn and return its result; an error message begins with `turn.where`."""
        logs = self.folder.path / "logs" / re.sub(r"[^\w.-]", "-", turn.logs)
        system = turn.system or turn.kind.name
        try:
            with (
                self._progress.turn(turn.where, system, turn.setup_s),
                turn.open(turn.kind, turn.experiment, logs, self._progress) as session,
            ):
                self._record(turn, session)
                with telling_of_session(session), closing(turn.steps(session)) as steps:
                    return self._result_of(steps, session)
        except Exception as error:
            told = error if isinstance(error, StackcostError) else own_fault(error)
            if told is None:
                raise
            raise StackcostError(f"{turn.where}: {told.what}", told.hint) from error

    def note_loads(self, loads: LoadsFound) -> None:
        """Record the rates that were computed from the shares of the plan."""
        self.manifest.loads_found = loads
        self.folder.write_manifest(self.manifest)

    def _result_of(self, steps: PlannedTrials[Result], session: ServerSession) -> Result:
        """Make the trials of a turn, and send each to its steps."""
        try:
            step = next(steps)
            while True:
                step = steps.send(self._make(session, step))
        except StopIteration as end:
            result: Result = end.value
            return result

    def _make(self, session: ServerSession, step: PlannedTrial) -> list[Trial]:
        """Make a trial and its repeats; each gets its own number, and all are stored.

        For a figure the last attempt counts even if it was disturbed: a choice that depends on
        the results would bias the figures.
        """
        purpose, attempts = step.purpose, list[Trial]()
        cpus = session.experiment.cores.server
        while not attempts or self._repeats.wanted(attempts, purpose, cpus):
            trial = step.trial.as_planned(self._number)
            self._number += 1
            trial.set_aside = purpose.set_aside
            if step_of_search := trial.load_as(SearchStep):
                step_of_search.repeat = len(attempts)
            again = AGAIN if attempts else ""
            with (
                telling_of_trial(trial, session),
                self._progress.trial(step.words, step.seconds, again, trial.load.kind),
                storing(self.folder, session, trial),
                no_garbage_collection(),
            ):
                step.make(trial)
            attempts.append(trial)
            if sentence := self._disturbed.words(trial, cpus):
                self._progress.note(sentence)
            if purpose.decides:
                require_wanted_stack(trial)
            elif why := of_another_stack(trial):
                self.manifest.not_measured[trial.server] = why
                self.folder.write_manifest(self.manifest)
        self._repeats.count(attempts, purpose)
        if len(attempts) > 1 and not purpose.decides:
            earlier = [trial.number for trial in attempts[:-1]]
            self.folder.set_aside(earlier, f"disturbed; repeated as trial {attempts[-1].number}")
        return attempts

    def _record(self, turn: Turn[Session, Result], session: ServerSession) -> None:
        """Record the system's set-up in the manifest; it is the same in every round."""
        if not turn.system:
            return
        described = session.describe()
        self.manifest.test_bed[turn.bed or turn.system] = described["test_bed"]
        self.manifest.servers[turn.system] = described["server"]
        self.manifest.servers["generator"] = described["generator"]
        self.folder.write_manifest(self.manifest)


def next_number(folder: RunFolder, stored: Sequence[Trial]) -> int:
    """The number after the highest trial number of a run.

    A damaged trial may be only in the list of `stored` trials or only in the folder of samples.
    """
    return max([folder.next_number(), *(trial.number + 1 for trial in stored)])
