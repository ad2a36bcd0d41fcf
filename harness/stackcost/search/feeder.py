"""Generates the searches of a run: each ceiling of each target, in turn, in rounds."""

from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from rich.console import Console

from stackcost.analysis.ceiling.ramp import rising
from stackcost.analysis.ceiling.settings import SearchSettings
from stackcost.analysis.ceiling.stored import SearchKey, decisive, trial_loss
from stackcost.campaign.order import draw_seed, in_order
from stackcost.campaign.record import new_campaign
from stackcost.campaign.turn import Feed, PlannedTrials, Purpose, Turn
from stackcost.contracts.load import CeilingKind
from stackcost.experiment.matrix import Variant
from stackcost.loads.search import Steps
from stackcost.search.expected import seconds_left
from stackcost.search.steps import DETAIL, search_step, search_steps
from stackcost.session.profile_session import SETUP_S, ProfileSession, open_profile_session
from stackcost.session.sides import lacking_there
from stackcost.store import RunFolder
from stackcost.systems.registry import server_class

# Multiples of the load at which the server had losses; raised until the twin also has losses.
TWIN_STEP, TWIN_MOST = 2.0, 4.0


@dataclass(frozen=True, slots=True)
class CeilingPlan:
    """The searches of a run: each ceiling in `settings` for each target, `rounds` times.

    `seed`: of the order of the targets.
    """

    targets: tuple[Variant, ...]
    settings: dict[CeilingKind, SearchSettings]
    rounds: int
    seed: int | None = field(default_factory=draw_seed)

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
        experiment=plan.describe(),
        order_seed=plan.seed,
        not_measured={each.name: each.lacking for each in plan.targets if each.lacking},
    ) as campaign:
        campaign.run(turns_of(plan))
    return campaign.folder


def turns_of(plan: CeilingPlan) -> Feed[None]:
    """All searches in order; the twin once, after a target's first search."""
    searches = plan.searches()
    seconds = [_seconds_of(plan.settings[key.of], target, key) for target, key in searches]
    for place, (target, key) in enumerate(searches):
        settings, (search_s, twin_s) = plan.settings[key.of], seconds[place]
        after_s = sum(map(sum, seconds[place + 1 :]))
        where = f"{key.round} of {plan.rounds}, " if plan.rounds > 1 else ""
        turn = Turn(
            system=target.name,
            kind=server_class(target.server),
            experiment=target.experiment,
            where=f"{where}{key.of} of {target.name}",
            logs=f"{key.round}-{target.name}-{key.of}-{target.server}",
            steps=partial(search_steps, key=key, settings=settings, after_s=twin_s + after_s),
            open=partial(open_profile_session, detail=DETAIL),
            left_s=search_s + twin_s + after_s,
        )
        found = yield from turn.taken()
        if twin_s:
            not_held = found.outcome.bounds[settings.goals[0]].upper or found.highest
            twin = _twin_of(target)
            yield Turn(
                system="",
                kind=server_class(twin),
                experiment=target.experiment,
                where=f"{turn.where} (twin)",
                logs=f"{key.round}-{target.name}-{key.of}-{twin}",
                steps=partial(
                    _twin_steps, key=key, settings=settings, load=not_held, after_s=after_s
                ),
                open=turn.open,
                left_s=twin_s + after_s,
            )


def _twin_steps(
    session: ProfileSession, key: SearchKey, settings: SearchSettings, load: float, after_s: float
) -> PlannedTrials[None]:
    """Offer the load that the server did not hold, and higher loads, to the twin."""
    Steps(key.of).prepare(session)
    purpose, duration = Purpose(settings.repeats, decides=True), settings.final_trial_duration
    for offered in rising(load, TWIN_STEP, min(TWIN_MOST * load, settings.most_load)):
        attempts = yield search_step(session, key, offered, duration, purpose, after_s, twin=True)
        if trial_loss(decisive(attempts)).lost:
            break


def _twin_of(target: Variant) -> str:
    """The reference peer: it shows the limit of generator and path without the target's work."""
    return server_class(target.server).twin


def _has_twin(target: Variant) -> bool:
    """Not the twin itself. The wire joins two ports of a generator, so it is on no other host."""
    twin = server_class(_twin_of(target))
    on_hosts = target.experiment.bed is not None
    return twin is not server_class(target.server) and not (on_hosts and twin.name == "dut/wire")


def _seconds_of(settings: SearchSettings, target: Variant, key: SearchKey) -> tuple[float, float]:
    """Estimated duration of a search, and of the twin's turn after it (0 without a twin)."""
    seconds = Steps(key.of, target.experiment.memory.open_cps).trial_s
    twin_s = 0.0
    if key.round == 1 and _has_twin(target):
        twin_s = SETUP_S + 2 * seconds(settings.first_load, settings.final_trial_duration)
    return SETUP_S + seconds_left(settings, (), seconds), twin_s
