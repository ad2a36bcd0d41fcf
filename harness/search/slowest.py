"""Finds the ceiling of the slowest system; the loads of an experiment are shares of it.

It runs the shortest form of a search for one system after the other. The ceiling of one system is
the highest load for the next one, because only the lowest ceiling matters. It begins with short
trials and ends with trials as long as those of the run: a share of a ceiling is a share of what
these hold. A second says too little: at 78 % of what one-second trials held, a server fell behind.
"""

from collections.abc import Sequence
from functools import partial

from stackcost.analysis.ceiling.controller import SearchResult
from stackcost.analysis.ceiling.settings import Goal, SearchSettings
from stackcost.analysis.ceiling.stored import SearchKey
from stackcost.contracts.errors import StackcostError
from stackcost.harness.campaign.turn import Feed, PlannedTrials, Turn
from stackcost.harness.experiment.matrix import Variant
from stackcost.harness.search.expected import seconds_left
from stackcost.harness.search.steps import DETAIL, search_steps
from stackcost.harness.search.trials import seconds_of
from stackcost.harness.session.profile_session import SETUP_S, ProfileSession, open_profile_session
from stackcost.harness.systems.registry import server_class

BEFORE_THE_FIRST_ROUND = 0
SET_ASIDE = "a trial of the search for the loads"
SHORTEST = SearchSettings(
    goals=(Goal(name="PDR", loss_ratio=0.005),),
    relative_width=0.1,
    initial_trial_duration=1.0,
    final_trial_duration=1.0,
    duration_sum=1.0,
    first_load=1000.0,
    repeats=1,
)


def lowest_ceilings(systems: Sequence[Variant], after_s: float) -> Feed[dict[str, float]]:
    """Connections/s that each system holds with at most 0.5 % loss.

    For a system that is faster than the slowest one so far, it is the value of the slowest one. The
    trials are stored, but no figure uses them. `after_s`: seconds of work that will follow.
    StackcostError if a system holds no load.
    """
    found: dict[str, float] = {}
    for at, system in enumerate(systems):
        settings = narrowed(as_long_as(system.experiment.load.sustain_s), found)
        seconds = expected_seconds(settings)
        still_s = after_s + (len(systems) - at - 1) * seconds
        held = yield Turn(
            system=system.name,
            kind=server_class(system.server),
            experiment=system.experiment,
            where=f"search for the ceiling of {system.name}",
            logs=f"{BEFORE_THE_FIRST_ROUND}-{system.name}",
            steps=partial(_steps, system.name, settings, still_s),
            open=partial(open_profile_session, detail=DETAIL),
            left_s=seconds + still_s,
        )
        if held is None:
            raise StackcostError(
                f"{system.name} holds no load with at most 0.5 % loss, so load.offered_shares "
                "cannot be used",
                "set rates instead: load.offered_cps",
            )
        found[system.name] = held
    return found


def as_long_as(sustain_s: float) -> SearchSettings:
    """The shortest search whose last trials last as long as those of the run, seconds."""
    length = max(SHORTEST.initial_trial_duration, sustain_s)
    return SHORTEST.model_copy(update={"final_trial_duration": length, "duration_sum": length})


def narrowed(settings: SearchSettings, found: dict[str, float]) -> SearchSettings:
    """The search for the next system: it starts and ends at the lowest ceiling so far."""
    if not found:
        return settings
    lowest = min(found.values())
    return settings.model_copy(update={"first_load": lowest, "most_load": lowest})


def expected_seconds(settings: SearchSettings) -> float:
    """About how long the search of one system takes, before any of its trials."""
    seconds = partial(seconds_of, "connections", open_cps=1.0)
    return SETUP_S + seconds_left(settings, (), seconds)


def highest_held_load(settings: SearchSettings, outcome: SearchResult) -> float | None:
    """The highest load that was held; None if there is none."""
    return outcome.bounds[settings.goals[0]].lower


def _steps(
    name: str, settings: SearchSettings, after_s: float, session: ProfileSession
) -> PlannedTrials[float | None]:
    key = SearchKey(name, "connections", BEFORE_THE_FIRST_ROUND)
    outcome, _ = yield from search_steps(session, key, settings, after_s, SET_ASIDE)
    return highest_held_load(settings, outcome)
