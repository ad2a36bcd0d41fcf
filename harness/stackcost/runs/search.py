"""The searches of a run: each ceiling of each target, in turn, in rounds, step by step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from stackcost.analysis.ceiling.controller import OutOfTrials, SearchResult, TrialLoss, replayed
from stackcost.analysis.ceiling.ramp import rising
from stackcost.analysis.ceiling.settings import SearchSettings
from stackcost.analysis.ceiling.stored import SearchKey, decisive, trial_loss
from stackcost.analysis.ceiling.summarise import first_without_any
from stackcost.collect.cpu_account import Detail
from stackcost.contracts.load import CeilingKind
from stackcost.contracts.trial import Trial
from stackcost.experiment.matrix import Variant
from stackcost.runs.loads.search import Steps
from stackcost.runs.record import new_campaign
from stackcost.runs.turn import (
    Feed,
    PlannedTrial,
    PlannedTrials,
    Purpose,
    Turn,
    draw_seed,
    in_order,
)
from stackcost.servers.registry import server_class
from stackcost.session.both_sides import lacking_there
from stackcost.session.profile_session import SETUP_S, ProfileSession, open_profile_session
from stackcost.store import RunFolder

FIRST_GUESS = 10.0  # times the first load; used before any trial has lost something

Seconds = Callable[[float, float], float]
"""Load, duration: the total time of such a trial."""


def seconds_left(
    settings: SearchSettings, so_far: Sequence[tuple[float, TrialLoss]], seconds_of: Seconds
) -> float:
    """Estimated seconds of the remaining trials, from the trials so far.

    `so_far`: load and loss of each trial in order.
    """
    ceiling = _guess(settings, so_far)
    left = 0.0

    def guessed(load: float, duration: float) -> TrialLoss:
        nonlocal left
        left += seconds_of(load, duration)
        intended = max(1, round(load * duration))
        return TrialLoss(intended, max(0, round(intended * (1 - ceiling / load))))

    replayed(settings, so_far, guessed)
    return left


def _guess(settings: SearchSettings, so_far: Sequence[tuple[float, TrialLoss]]) -> float:
    """A guess of the ceiling: the completed part of the lowest load with loss, or a higher load."""
    lossy = [(load, result) for load, result in so_far if result.lost]
    if lossy:
        load, result = min(lossy, key=lambda trial: trial[0])
        return load * (1 - result.loss_ratio)
    highest = max((load for load, _ in so_far), default=settings.first_load)
    return min(FIRST_GUESS * settings.first_load + highest, settings.most_load)


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


# Multiples of the load at which the server had losses; raised until the reference system also has
# losses.
REFERENCE_STEP, REFERENCE_MOST = 2.0, 4.0


@dataclass(frozen=True, slots=True)
class CeilingPlan:
    """The searches of a run: each ceiling in `settings` for each target, `rounds` times.

    `seed`: of the order of the targets.
    """

    targets: tuple[Variant, ...]
    settings: dict[CeilingKind, SearchSettings]
    rounds: int
    seed: int = field(default_factory=draw_seed)

    def searches(self) -> list[tuple[Variant, SearchKey]]:
        """All searches in order: for each ceiling the targets in turn, by round."""
        return [
            (target, SearchKey(target.name, of, number))
            for number in range(1, self.rounds + 1)
            for of in self.settings
            for target in in_order(self.targets, number, self.seed)
            if not target.lacking
        ]

    def describe(self) -> dict[str, object]:
        """For the manifest: an experiment with an additional section."""
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
    plan: CeilingPlan, name: str, results: Path, command: list[str], console: Console
) -> RunFolder:
    """Make all searches and store their trials under `results`; returns the run's folder.

    StackcostError if a trial fails. For other ends see `new_campaign`.
    """
    there = lacking_there(plan.targets)
    targets = [
        replace(each, lacking=each.lacking or there.get(each.name, "")) for each in plan.targets
    ]
    plan = replace(plan, targets=tuple(targets))
    with new_campaign(
        results,
        name,
        command,
        console,
        here=any(target.experiment.uses_this_machine for target in plan.targets),
        kind="ceilings",
        experiment=plan.describe(),
        order_seed=plan.seed,
        systems=[each.system for each in plan.targets],
        not_measured={each.name: each.lacking for each in plan.targets if each.lacking},
    ) as campaign:
        campaign.expect(expected_seconds(plan))
        campaign.run(turns_of(plan))
    return campaign.folder


def turns_of(plan: CeilingPlan) -> Feed[None]:
    """All searches in order; the reference system once, after a target's first search."""
    for target, key in plan.searches():
        settings = plan.settings[key.of]
        where = f"{key.round} of {plan.rounds}, " if plan.rounds > 1 else ""
        turn = Turn(
            system=target.name,
            kind=target.kind,
            experiment=target.experiment,
            where=f"{where}{key.of} of {target.name}",
            logs=f"{key.round}-{target.name}-{key.of}-{target.server}",
            steps=partial(search_steps, key=key, settings=settings),
            open=partial(open_profile_session, detail=DETAIL),
        )
        found = yield from turn.taken()
        if _reference_follows(target, key):
            not_held = found.outcome.bounds[settings.goals[0]].upper or found.highest
            reference = target.kind.reference
            yield Turn(
                system="",
                kind=server_class(reference),
                experiment=target.experiment,
                where=f"{turn.where} (reference system)",
                logs=f"{key.round}-{target.name}-{key.of}-{reference}",
                steps=partial(_reference_steps, key=key, settings=settings, load=not_held),
                open=turn.open,
            )


def _reference_steps(
    session: ProfileSession, key: SearchKey, settings: SearchSettings, load: float
) -> PlannedTrials[None]:
    """Offer the load that the server did not hold, and higher loads, to the reference system."""
    Steps(key.of).prepare(session)
    purpose, duration = Purpose(settings.repeats, decides=True), settings.final_trial_duration
    for offered in rising(load, REFERENCE_STEP, min(REFERENCE_MOST * load, settings.most_load)):
        attempts = yield search_step(session, key, offered, duration, purpose, reference=True)
        if trial_loss(decisive(attempts)).lost:
            break


def _reference_follows(target: Variant, key: SearchKey) -> bool:
    """After a first search, and not after the reference system's own.

    The wire joins two ports of a generator, so it is on no other host.
    """
    reference = server_class(target.kind.reference)
    on_hosts = target.experiment.bed is not None
    itself = reference is target.kind
    return key.round == 1 and not itself and not (on_hosts and reference.name == "dut/wire")


def expected_seconds(plan: CeilingPlan) -> list[float]:
    """About how long each turn takes: the searches, and the turns of the reference system."""
    seconds = []
    for target, key in plan.searches():
        settings = plan.settings[key.of]
        trial_s = Steps(key.of, target.experiment.memory.open_cps).trial_s
        seconds.append(SETUP_S + seconds_left(settings, (), trial_s))
        if _reference_follows(target, key):
            reference_s = 2 * trial_s(settings.first_load, settings.final_trial_duration)
            seconds.append(SETUP_S + reference_s)
    return seconds
