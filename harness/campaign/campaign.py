"""Runs what a feeder asks for: it numbers, makes, repeats and stores trials, and shows progress."""

import re
from collections.abc import Sequence
from contextlib import closing
from typing import Any

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.load import SearchStep
from stackcost.contracts.trial import Trial
from stackcost.harness.campaign.repeats import Repeats
from stackcost.harness.campaign.storing import check_carrier, storing
from stackcost.harness.campaign.turn import Feed, PlannedTrial, Turn
from stackcost.harness.session.progress import Progress
from stackcost.harness.session.server_session import ServerSession
from stackcost.store import Manifest, RunFolder
from stackcost.store.manifest import LoadsFound

AGAIN = ", again: it was disturbed"


class Campaign:
    """A run that goes on: harness/campaign/record.py begins it, and writes down how it ends.

    `folder`: where each trial is stored as soon as it is over. `manifest`: as written last.
    `stored`: the trials of a run that goes on, when it did; new ones are numbered after them.
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
        self._passed_s = 0.0

    def run(self, feed: Feed[Any]) -> None:
        """Take all turns of a feeder, and tell it what each came to."""
        came_to: Any = None
        with closing(feed):
            while True:
                try:
                    turn = feed.send(came_to)
                except StopIteration:
                    return
                came_to = self.take(turn)

    def take(self, turn: Turn) -> Any:
        """Take one turn and return what it came to; StackcostError beginning with where it was."""
        logs = self.folder.path / "logs" / re.sub(r"[^\w.-]", "-", turn.logs)
        place = turn.kind, turn.experiment, logs, turn.where, self._progress
        self._progress.expect(self._passed_s + turn.left_s)
        came_to: Any = None
        try:
            with turn.open(*place) as session:
                self._pass(turn.seconds)
                self._record(turn, session)
                with closing(turn.steps(session)) as steps:
                    attempts: Any = None
                    while True:
                        try:
                            step = steps.send(attempts)
                        except StopIteration as end:
                            came_to = end.value
                            break
                        attempts = self._make(session, step)
        except StackcostError as error:
            raise StackcostError(f"{turn.where}: {error.what}", error.hint) from error
        return came_to

    def note_loads(self, loads: LoadsFound) -> None:
        """Write down which loads the plan's shares have become."""
        self.manifest.loads_found = loads
        self.folder.write_manifest(self.manifest)

    def _make(self, session: ServerSession, step: PlannedTrial) -> list[Trial]:
        """A trial and its repeats, each with a number of its own, and all of them stored.

        Of a trial for a figure the last attempt counts even if it was disturbed as well: to choose
        by what came out would move the figures.
        """
        purpose, attempts = step.purpose, list[Trial]()
        cpus = session.experiment.cores.server
        while not attempts or self._repeats.wanted(attempts, purpose, cpus):
            trial = step.trial.as_planned(self._number)
            self._number += 1
            trial.set_aside = purpose.set_aside
            if isinstance(trial.load, SearchStep):
                trial.load.repeat = len(attempts)
            self._progress.expect(self._passed_s + step.left_s)
            session.say(step.words + (AGAIN if attempts else ""))
            with storing(self.folder, session, trial):
                step.make(trial)
            self._pass(step.seconds)
            attempts.append(trial)
            if purpose.decides:
                check_carrier(trial)
            elif trial.set_aside != purpose.set_aside:
                self.manifest.not_measured[trial.server] = trial.set_aside
                self.folder.write_manifest(self.manifest)
        self._repeats.count(attempts, purpose)
        if len(attempts) > 1 and not purpose.decides:
            earlier = [trial.number for trial in attempts[:-1]]
            self.folder.set_aside(earlier, f"disturbed, repeated as trial {attempts[-1].number}")
        return attempts

    def _record(self, turn: Turn, session: ServerSession) -> None:
        """Put into the manifest what a system runs on; the same in every round."""
        if not turn.system:
            return
        described = session.describe()
        self.manifest.test_bed[turn.bed or turn.system] = described["test_bed"]
        self.manifest.servers[turn.system] = described["server"]
        self.manifest.servers["generator"] = described["generator"]
        self.folder.write_manifest(self.manifest)

    def _pass(self, seconds: float) -> None:
        """So many seconds of work, as planned for it, are behind us."""
        self._passed_s += seconds
        self._progress.reach(self._passed_s)


def next_number(folder: RunFolder, stored: Sequence[Trial]) -> int:
    """The number after those of all trials of a run, of which a damaged one may be in one place:
    the list of `stored` trials, or the folder of samples.
    """
    return max([folder.next_number(), *(trial.number + 1 for trial in stored)])
