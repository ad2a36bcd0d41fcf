"""The trials of one search; each load depends on the losses of the trials before it."""

from typing import NamedTuple

from stackcost.analysis.ceiling.controller import OutOfTrials, SearchResult, TrialLoss, replayed
from stackcost.analysis.ceiling.settings import SearchSettings
from stackcost.analysis.ceiling.stopped import first_without_any
from stackcost.analysis.ceiling.stored import SearchKey, decisive, trial_loss
from stackcost.campaign.turn import PlannedTrial, PlannedTrials, Purpose
from stackcost.collect.cpu_account import Detail
from stackcost.contracts.trial import Trial
from stackcost.loads.search import Steps
from stackcost.search.expected import seconds_left
from stackcost.session.profile_session import ProfileSession

# Measuring softirqs and interrupts, too, would lower the ceiling by another 0.5 %.
DETAIL = Detail.TASKS
SoFar = list[tuple[float, TrialLoss]]


class Searched(NamedTuple):
    """The end of a search: bounds, highest offered load, the trial that counts of each load.

    `stopped`: the system passed nothing any more, so that the search ended early.
    """

    outcome: SearchResult
    highest: float
    tried: list[Trial]
    stopped: bool


def search_steps(
    session: ProfileSession,
    key: SearchKey,
    settings: SearchSettings,
    set_aside: str = "",
) -> PlannedTrials[Searched]:
    """Search on a session. `set_aside`: why no figure uses its trials."""
    kind = Steps(key.of, session.experiment.memory.open_cps)
    kind.prepare(session)
    so_far: SoFar = []
    tried: list[Trial] = []
    purpose = Purpose(settings.repeats, decides=True, set_aside=set_aside)
    with session.progress.search(seconds_left(settings, so_far, kind.trial_s)) as search:
        while True:
            outcome, wanted = next_trial(settings, so_far)
            stopped = first_without_any(so_far) is not None
            if wanted is None or stopped:
                return Searched(outcome, max(load for load, _ in so_far), tried, stopped)
            search.left_s = seconds_left(settings, so_far, kind.trial_s)
            attempts = yield search_step(session, key, *wanted, purpose)
            tried.append(decisive(attempts))
            so_far.append((wanted[0], trial_loss(tried[-1])))


def search_step(
    session: ProfileSession,
    key: SearchKey,
    load: float,
    duration: float,
    purpose: Purpose,
    reference: bool = False,
) -> PlannedTrial:
    """A trial of a search; `load` in the unit of the ceiling, `duration` in seconds."""
    kind = Steps(key.of, session.experiment.memory.open_cps)
    step = kind.step(load, duration, reference)
    trial = Trial(key.server, 0, key.round, step, session.response_bytes)
    return kind.planned(session, trial, step, purpose)


def next_trial(
    settings: SearchSettings, so_far: SoFar
) -> tuple[SearchResult, tuple[float, float] | None]:
    """The result after these loads and losses, and the next load and duration.

    The next load is None at the end of the search.
    """
    wanted: list[tuple[float, float]] = []

    def ask(load: float, duration: float) -> TrialLoss:
        wanted.append((load, duration))
        raise OutOfTrials

    outcome = replayed(settings, so_far, ask)
    return outcome, wanted[0] if wanted else None
