"""Finds the ceiling of the slowest system; the loads of an experiment are shares of it.

It runs the shortest form of a search for one system after the other. The ceiling of one system is
the highest load for the next one, because only the lowest ceiling matters. It begins with short
trials and ends with trials as long as those of the run: a share of a ceiling is a share of what
these hold. A second says too little: at 78 % of what one-second trials held, a server fell behind.
Last, the highest load of the run is tried by itself, and made lower until it is held.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from stackcost.analysis.ceiling.controller import SearchResult
from stackcost.analysis.ceiling.settings import Goal, SearchSettings
from stackcost.analysis.ceiling.stored import SearchKey, decisive, trial_loss
from stackcost.contracts.errors import StackcostError
from stackcost.experiment.matrix import Variant
from stackcost.experiment.schema import Experiment
from stackcost.runs.loads.search import Steps
from stackcost.runs.search import DETAIL, Searched, search_step, search_steps, seconds_left
from stackcost.runs.turn import Feed, PlannedTrials, Purpose, Turn
from stackcost.session.profile_session import SETUP_S, ProfileSession, open_profile_session
from stackcost.store.manifest import LoadsFound

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
LOWER = 0.9  # a load that was not held is lowered to this share of it,
TRIES = 4  # and is tried so many times in all


class Held(NamedTuple):
    """What a system holds, connections/s: the load that the run's loads are shares of.

    `not_held`: highest loads of the run, by this load and higher ones, that were tried by
    themselves and not held.
    """

    ceiling: float
    not_held: tuple[float, ...] = ()


def lowest_ceilings(systems: Sequence[Variant]) -> Feed[dict[str, Held]]:
    """What each system holds with at most 0.5 % loss.

    For a system that is faster than the slowest one so far, it is the value of the slowest one. The
    trials are stored, but no figure uses them. StackcostError if a system holds no load.
    """
    found: dict[str, Held] = {}
    for system in systems:
        settings = narrowed(as_long_as(system.experiment.load.sustain_s), found)
        turn = Turn(
            system=system.name,
            kind=system.kind,
            experiment=system.experiment,
            where=f"search for the ceiling of {system.name}",
            logs=f"{BEFORE_THE_FIRST_ROUND}-{system.name}",
            steps=partial(_steps, system, settings),
            open=partial(open_profile_session, detail=DETAIL),
        )
        held, why_none = yield from turn.taken()
        if held is None:
            raise StackcostError(
                f"no loads by load.offered_shares: {why_none}",
                "set rates instead: load.offered_cps",
            )
        found[system.name] = held
    return found


def loads_found(experiment: Experiment, systems: Sequence[Variant]) -> Feed[LoadsFound]:
    """The loads of an experiment whose loads are shares, by what each system holds."""
    found = yield from lowest_ceilings(systems)
    ceilings = {name: held.ceiling for name, held in found.items()}
    return LoadsFound(
        ceilings=ceilings,
        offered_cps=experiment.load.rates_of(min(ceilings.values())),
        not_held={name: list(held.not_held) for name, held in found.items() if held.not_held},
    )


def as_long_as(sustain_s: float) -> SearchSettings:
    """The shortest search whose last trials last as long as those of the run, seconds."""
    length = max(SHORTEST.initial_trial_duration, sustain_s)
    return SHORTEST.model_copy(update={"final_trial_duration": length, "duration_sum": length})


def narrowed(settings: SearchSettings, found: dict[str, Held]) -> SearchSettings:
    """The search for the next system: it starts and ends at the lowest ceiling so far."""
    if not found:
        return settings
    lowest = min(each.ceiling for each in found.values())
    return settings.model_copy(update={"first_load": lowest, "most_load": lowest})


def expected_seconds(systems: Sequence[Variant]) -> list[float]:
    """About how long the search of each system takes, with one try of the highest load."""
    trial_s, found = Steps("connections").trial_s, dict[str, Held]()
    seconds = []
    for system in systems:
        settings = narrowed(as_long_as(system.experiment.load.sustain_s), found)
        check_s = trial_s(1.0, settings.final_trial_duration)
        seconds.append(SETUP_S + seconds_left(settings, (), trial_s) + check_s)
        found[system.name] = Held(settings.first_load)  # of any load: as long for each
    return seconds


def highest_held_load(settings: SearchSettings, outcome: SearchResult) -> float | None:
    """The highest load that was held; None if there is none."""
    return outcome.bounds[settings.goals[0]].lower


def checked(
    ceiling: float,
    highest_of: Callable[[float], float],
    holds: Callable[[float], PlannedTrials[bool]],
) -> PlannedTrials[Held]:
    """Try the highest load of a run by itself; lower the ceiling until it is held.

    It ends after `TRIES`, so the last ceiling may be one whose highest load was not tried.
    `highest_of`: the highest load of a run with this ceiling. `holds`: makes a trial as long as
    those of the run; returns whether the load was held.
    """
    not_held: list[float] = []
    while len(not_held) < TRIES:
        load = highest_of(ceiling)
        if (yield from holds(load)):
            break
        not_held.append(load)
        ceiling *= LOWER
    return Held(ceiling, tuple(not_held))


def _steps(
    system: Variant, settings: SearchSettings, session: ProfileSession
) -> PlannedTrials[tuple[Held | None, str]]:
    """What the system holds; if it holds nothing, why."""
    key = SearchKey(system.name, "connections", BEFORE_THE_FIRST_ROUND)
    searched = yield from search_steps(session, key, settings, SET_ASIDE)
    found = highest_held_load(settings, searched.outcome)
    if found is None or searched.stopped:
        return None, why_none(key, searched, settings, system.experiment.cores.server)
    purpose = Purpose(settings.repeats, decides=True, set_aside=SET_ASIDE)

    def holds(load: float) -> PlannedTrials[bool]:
        duration = settings.final_trial_duration
        attempts = yield search_step(session, key, load, duration, purpose)
        return trial_loss(decisive(attempts)).loss_ratio <= settings.goals[0].loss_ratio

    rates_of = system.experiment.load.rates_of
    held = yield from checked(found, lambda ceiling: max(rates_of(ceiling)), holds)
    return held, ""


def why_none(
    key: SearchKey, searched: Searched, settings: SearchSettings, server_cpus: Sequence[int]
) -> str:
    """Why a search found no load that was held, in words: what its trials counted."""
    from stackcost.analysis.ceiling.summarise import ceiling_of  # takes a second to import

    return ceiling_of(key, searched.tried, settings, server_cpus).sentence.rstrip(".")
