"""What the slowest of some systems holds now, which an experiment's loads are shares of.

The shortest form of a search, for each system one after the other. What one of them holds is the
most that the next is asked for: only the lowest ceiling matters.
"""

import re
from collections.abc import Sequence
from functools import partial

from harness.experiment.matrix import Variant
from harness.search.expected import seconds_left
from harness.search.measurer import Measurer
from harness.search.runner import DETAIL, SETUP_S
from harness.search.trials import prepare, seconds_of
from harness.session.progress import Progress
from harness.session.session import open_session
from harness.systems.registry import server_class
from stackcost.analysis.ceiling.controller import Counted, Measure, search
from stackcost.analysis.ceiling.settings import Goal, Settings
from stackcost.analysis.ceiling.stored import Key
from stackcost.contracts.errors import StackcostError
from stackcost.store import RunFolder

BEFORE_THE_FIRST_ROUND = 0
SET_ASIDE = "a trial of the search for the loads"
SHORTEST = Settings(
    goals=(Goal(name="PDR", loss_ratio=0.005),),
    relative_width=0.1,
    initial_trial_duration=1.0,
    final_trial_duration=1.0,
    duration_sum=1.0,
    first_load=1000.0,
    repeats=1,
)


def lowest_ceilings(
    systems: Sequence[Variant], run: RunFolder, progress: Progress, after_s: float
) -> tuple[dict[str, float], float]:
    """Connections/s that each system holds with 0.5 % lost at most, and how long that took.

    Of one that holds what the slowest so far does, that. The trials are stored and in no figure.
    `after_s`: seconds of work that will follow. StackcostError when a system holds nothing.
    """
    last = max((trial.number for trial in run.trials()), default=0)
    measurer = Measurer(run, progress, last + 1, SET_ASIDE)
    found: dict[str, float] = {}
    for at, system in enumerate(systems):
        settings = within(SHORTEST, found)
        still = after_s + (len(systems) - at - 1) * expected_seconds(settings)
        held = _search(system, settings, measurer, run, progress, still)
        if held is None:
            raise StackcostError(
                f"{system.name} holds no load of which the loads could be shares",
                "give rates instead: load.offered_cps",
            )
        found[system.name] = held
    return found, measurer.passed_s


def within(settings: Settings, found: dict[str, float]) -> Settings:
    """The search for the next system: up to the lowest ceiling so far, which is tried at once."""
    if not found:
        return settings
    lowest = min(found.values())
    return settings.model_copy(update={"first_load": lowest, "most_load": lowest})


def expected_seconds(settings: Settings) -> float:
    """About how long the search of one system takes, before any of its trials."""
    seconds = partial(seconds_of, "connections", open_cps=1.0)
    return SETUP_S + seconds_left(settings, (), seconds)


def held_of(settings: Settings, measure: Measure) -> float | None:
    """The highest load that was held; None when none was."""
    outcome = search(settings, measure)
    return outcome.bounds[settings.goals[0]].lower


def _search(
    system: Variant,
    settings: Settings,
    measurer: Measurer,
    run: RunFolder,
    progress: Progress,
    after_s: float,
) -> float | None:
    key = Key(system.name, "connections", BEFORE_THE_FIRST_ROUND)
    where = f"what {system.name} holds"
    name = re.sub(r"[^\w.-]", "-", system.name)
    folder = run.path / "logs" / f"{key.round}-{name}"
    seconds = partial(seconds_of, key.of, open_cps=1.0)
    so_far: list[tuple[float, Counted]] = []
    measurer.pass_seconds(SETUP_S)
    try:
        kind = server_class(system.server)
        with open_session(kind, system.experiment, folder, where, progress, DETAIL) as session:
            prepare(session, key.of)

            def measure(load: float, duration: float) -> Counted:
                measurer.expect(seconds_left(settings, so_far, seconds) + after_s)
                result = measurer.measure(session, key, settings, load, duration)
                so_far.append((load, result))
                return result

            return held_of(settings, measure)
    except StackcostError as error:
        raise StackcostError(f"{where}: {error.what}", error.mend) from error
