"""Makes the trials of searches: each is numbered, stored, and repeated when it was disturbed."""

import itertools

from harness.campaign.attempts import check_carrier, storing, until_undisturbed
from harness.search.trials import run_trial, seconds_of, step_of
from harness.session.progress import Progress
from harness.session.session import Session
from stackcost.analysis.ceiling.controller import Counted
from stackcost.analysis.ceiling.settings import UNITS, Settings
from stackcost.analysis.ceiling.stored import Key, counted, decisive, needs_repeat
from stackcost.contracts.trial import Trial
from stackcost.store import RunFolder


class Measurer:
    """Numbers the trials of one run and keeps the time that has passed in it.

    `trials`: all that came to their end, in order. `first`: the first number. `set_aside`: why they
    are in no figure of the run, if they are not. `passed_s`: seconds of work behind us.
    """

    def __init__(self, run: RunFolder, progress: Progress, first: int = 1, set_aside: str = ""):
        self.trials: list[Trial] = []
        self.passed_s = 0.0
        self._run = run
        self._progress = progress
        self._numbers = itertools.count(first)
        self._set_aside = set_aside

    def measure(
        self,
        session: Session,
        key: Key,
        settings: Settings,
        load: float,
        duration: float,
        twin: bool = False,
    ) -> Counted:
        """One trial, repeated while it lost something under a disturbance; all are stored."""

        def attempt(repeat: int) -> Trial:
            again = f", repeat {repeat}" if repeat else ""
            session.say(f"{load:,.0f} {UNITS[key.of]} for {duration:g} s{again}")
            trial = Trial(
                key.server,
                next(self._numbers),
                key.round,
                step_of(key.of, load, duration, repeat, twin),
                session.response_bytes,
                set_aside=self._set_aside,
            )
            with storing(self._run, session, trial):
                run_trial(session, trial)
            check_carrier(trial)
            self.trials.append(trial)
            self.pass_seconds(
                seconds_of(key.of, load, duration, session.experiment.memory.open_cps)
            )
            return trial

        return counted(decisive(until_undisturbed(attempt, needs_repeat, settings.repeats)))

    def expect(self, seconds_left: float) -> None:
        """So many seconds are still to come."""
        self._progress.expect(self.passed_s + seconds_left)

    def pass_seconds(self, seconds: float) -> None:
        """So many seconds of work, as planned for it, are behind us."""
        self.passed_s += seconds
        self._progress.reach(self.passed_s)
