"""An experiment: its plan, and its turns: every system gets the same load, in turn, in rounds."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from stackcost.contracts.trial import Trial
from stackcost.counting.programs import check_programs
from stackcost.counting.session import why_not_counted
from stackcost.experiment.collectors import figures_of
from stackcost.experiment.matrix import Variant, variants
from stackcost.experiment.schema import Experiment
from stackcost.runs.campaign import Campaign
from stackcost.runs.identity import experiment_hash, profile_hashes
from stackcost.runs.loads.constant import Constant
from stackcost.runs.loads.counted import CountedConnections
from stackcost.runs.loads.held import Holds
from stackcost.runs.loads.http import Http
from stackcost.runs.loads.kind import LoadKind
from stackcost.runs.loads.own import own_kind
from stackcost.runs.record import new_campaign, resumed_campaign
from stackcost.runs.slowest import expected_seconds, loads_found
from stackcost.runs.turn import Feed, PlannedTrials, Turn, draw_seed, in_order
from stackcost.session.both_sides import lacking_there
from stackcost.session.progress import SET_UP
from stackcost.session.server_session import ServerSession
from stackcost.store import Manifest, RunFolder
from stackcost.store.manifest import PlanFile

# The kinds of load that an experiment has sections for, in the order of a turn: memory first,
# because server and kernel keep some of what a load took. A new one is named here.
KINDS: tuple[type[Holds] | type[Constant] | type[Http], ...] = (Holds, Constant, Http)


@dataclass(frozen=True, slots=True)
class PlannedLoad:
    """A trial of the plan, and the kind that offers its load."""

    trial: Trial
    kind: LoadKind[Any, Any]

    @property
    def seconds(self) -> float:
        """About how long it takes."""
        return self.kind.seconds(self.trial.load)


@dataclass(frozen=True, slots=True)
class PlannedTurn:
    """One system's turn in one round: its loads in order, on a new test bed. All of them ask for
    the same session.
    """

    round: int
    variant: Variant
    loads: list[PlannedLoad]

    @property
    def trials(self) -> list[Trial]:
        """All trials in order."""
        return [planned.trial for planned in self.loads]

    @property
    def setup_s(self) -> float:
        """About how long it takes until its first trial begins."""
        return self.loads[0].kind.setup_s

    @property
    def seconds(self) -> dict[str, float]:
        """About how long it takes, by the kinds of its steps."""
        found = {SET_UP: self.setup_s}
        for planned in self.loads:
            kind = planned.trial.load.kind
            found[kind] = found.get(kind, 0.0) + planned.seconds
        return found


def plan(
    experiment: Experiment,
    stored: Collection[Trial] = (),
    lacking: Collection[str] = (),
    seed: int = 0,
) -> list[PlannedTurn]:
    """All turns in order, without the trials in `stored` and the systems in `lacking`.

    `seed`: of the order of the systems.

    Trials that hold flows are repeated together, because their slope needs one test bed.
    """
    done = Counter(identity(trial) for trial in stored if not trial.set_aside)
    turns = []
    for number in range(1, experiment.rounds + 1):
        for variant in in_order(variants(experiment), number, seed):
            if variant.lacking or variant.name in lacking:
                continue
            loads = list[PlannedLoad]()
            for kind in kinds_of(experiment):
                asked = [
                    PlannedLoad(Trial(variant.name, 0, number, load), kind)
                    for load in kind.loads(variant)
                ]
                left = [each for each in asked if identity(each.trial) not in done]
                if kind.together and not Counter(identity(each.trial) for each in asked) <= done:
                    left = asked
                loads += left
            turns += [PlannedTurn(number, variant, loads)] if loads else []
    return turns


def kinds_of(experiment: Experiment) -> list[LoadKind[Any, Any]]:
    """The kinds of load, as this experiment offers them; one of its own in place of `Constant`.

    StackcostError if the file of that has none.
    """
    if experiment.counted:
        return [CountedConnections(experiment)]
    own = experiment.load.offered_by
    return [
        own_kind(own)(experiment) if own and kind is Constant else kind(experiment)
        for kind in KINDS
    ]


def identity(trial: Trial) -> tuple[object, ...]:
    """The values that identify a trial of the plan."""
    return trial.server, trial.round, *trial.load.identity


# Connections/s of a server on one core, for the time left only, until a search has found it.
TYPICAL_CEILING = 4_000.0
GO_ON = "to resume, run: stackcost run --resume"


def run_experiment(
    experiment: Experiment,
    name: str,
    results: Path,
    command: list[str],
    console: Console,
    plan_file: PlanFile | None = None,
) -> RunFolder:
    """Run all trials and store them under `results`; returns the run's folder.

    `plan_file`: the file that the experiment was read from, if a resumed run has to look at it.
    StackcostError if a trial fails. For other ends see `new_campaign`.
    """
    if experiment.counted:
        check_programs(partial(console.print, markup=False))
    systems = variants(experiment)
    there = _lacking(experiment, systems)
    lacking = {each.name: each.lacking for each in systems if each.lacking} | there
    with new_campaign(
        results,
        name,
        command,
        console,
        GO_ON,
        experiment.uses_this_machine,
        experiment.counted is None,
        experiment=experiment.model_dump(mode="json"),
        experiment_hash=experiment_hash(experiment),
        plan_file=plan_file,
        profile_hashes=profile_hashes(experiment),
        order_seed=draw_seed(),
        systems=[each.system for each in systems],
        figures=figures_of(experiment.collectors),
        not_measured=lacking,
        tests_not_measured={
            f"{each.name}, {test}": why
            for each in systems
            for test, why in each.lacking_tests.items()
        },
    ) as campaign:
        campaign.run(turns_of(experiment, campaign, there))
    return campaign.folder


def resume_experiment(run: RunFolder, command: list[str], console: Console) -> RunFolder:
    """Run the missing trials of an interrupted, failed or killed run, in its folder.

    StackcostError if its plan, a profile or the machine has changed.
    """
    with resumed_campaign(run, command, console, GO_ON) as campaign:
        experiment = campaign.manifest.plan_as(Experiment)
        there = _lacking(experiment, variants(experiment))
        seed = campaign.manifest.order_seed
        turns = plan(at_loads(experiment, campaign.manifest), campaign.stored, there, seed)
        again = _run_again(turns, campaign.stored)
        run.set_aside(again, "its turn was interrupted and run again")
        campaign.run(turns_of(experiment, campaign, there))
    return run


def at_loads(experiment: Experiment, manifest: Manifest) -> Experiment:
    """The plan with rates instead of shares: the rates that were found at the start of the run.

    Before they are found, the shares are used as placeholders.
    """
    if not experiment.load.offered_shares:
        return experiment
    found = manifest.loads_found
    if found is None:
        return experiment.offering(experiment.load.offered_shares)
    return experiment.offering(found.offered_cps, min(found.ceilings.values()))


def turns_of(
    experiment: Experiment, campaign: Campaign, lacking: Collection[str] = ()
) -> Feed[None]:
    """Find the loads, if necessary, and yield every turn that is not stored.

    `lacking`: names of systems that the server's host cannot measure.
    """
    if (
        experiment.load.offered_shares
        and not experiment.counted
        and not campaign.manifest.loads_found
    ):
        guessed = experiment.offering(experiment.load.offered_shares, TYPICAL_CEILING)
        planned = plan(guessed, lacking=lacking)
        systems = [
            each for each in variants(experiment) if not each.lacking and each.name not in lacking
        ]
        campaign.expect([*expected_seconds(systems), *(turn.seconds for turn in planned)])
        loads = yield from loads_found(experiment, systems)
        campaign.note_loads(loads)
    experiment = at_loads(experiment, campaign.manifest)
    turns = plan(experiment, campaign.stored, lacking, campaign.manifest.order_seed)
    campaign.expect([turn.seconds for turn in turns])
    for turn in turns:
        yield Turn(
            system=turn.variant.name,
            kind=turn.variant.kind,
            experiment=turn.variant.experiment,
            where=f"round {turn.round} of {experiment.rounds}, {turn.variant.name}",
            logs=f"{turn.round}-{turn.variant.name}",
            steps=partial(_steps, turn),
            open=turn.loads[0].kind.open,
            setup_s=turn.setup_s,
        )


def _steps(turn: PlannedTurn, session: ServerSession) -> PlannedTrials[None]:
    """The loads of a turn in order; a kind is prepared before its first."""
    prepared: LoadKind[Any, Any] | None = None
    for planned in turn.loads:
        if planned.kind is not prepared:
            planned.kind.prepare(session)
            prepared = planned.kind
        planned.trial.response_bytes = session.response_bytes
        yield from planned.kind.steps(session, planned.trial, planned.trial.load)


def _lacking(experiment: Experiment, systems: Sequence[Variant]) -> dict[str, str]:
    """By name of each system that the bed cannot measure: why not."""
    counted = experiment.counted
    if not counted:
        return lacking_there(systems)
    found = {
        each.name: why_not_counted(each.kind, each.experiment.server.stack, counted.files)
        for each in systems
    }
    return {name: why for name, why in found.items() if why}


def _run_again(turns: Sequence[PlannedTurn], stored: Sequence[Trial]) -> list[int]:
    """Numbers of stored trials that a turn will repeat."""
    again = {identity(trial) for turn in turns for trial in turn.trials}
    return [trial.number for trial in stored if identity(trial) in again]
