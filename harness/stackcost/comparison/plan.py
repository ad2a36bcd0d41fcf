"""The order of a run's trials, and their estimated duration.

Every system has one turn in a round; `stackcost.campaign.order` has the order.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from stackcost.campaign.order import in_order
from stackcost.contracts.load import ConstantLoad, FlowState, HeldFlows, HttpClients
from stackcost.contracts.trial import Trial
from stackcost.experiment.http_schema import HttpLoad
from stackcost.experiment.matrix import Variant, variants
from stackcost.experiment.schema import Experiment
from stackcost.session.http_session import HTTP_SETUP_S
from stackcost.session.load_trial import OVERHANG_S
from stackcost.session.profile_session import SETUP_S
from stackcost.systems.registry import server_class

# Measured on a machine with two cores; used only to display the remaining time.
LOAD_EXTRA_S = 0.6
HTTP_EXTRA_S = 0.3
HOLD_EXTRA_S = 1.5


@dataclass(frozen=True, slots=True)
class PlannedTurn:
    """One system's turn in one round: its trials, on a new test bed."""

    round: int
    variant: Variant
    holds: list[Trial]
    loads: list[Trial]

    @property
    def trials(self) -> list[Trial]:
        """All trials in order: memory first, because server and kernel keep memory after a load."""
        return self.holds + self.loads


def plan(
    experiment: Experiment,
    stored: Collection[Trial] = (),
    lacking: Collection[str] = (),
    seed: int | None = None,
) -> list[PlannedTurn]:
    """All turns in order, without the trials in `stored` and the systems in `lacking`.

    `seed`: of the order of the systems.

    The trials that hold flows are repeated together, because their slope needs one test bed.
    """
    done = Counter(identity(trial) for trial in stored if not trial.set_aside)
    turns = []
    for number in range(1, experiment.rounds + 1):
        for variant in in_order(variants(experiment), number, seed):
            if variant.lacking or variant.name in lacking:
                continue
            holds = [
                Trial(variant.name, 0, number, HeldFlows(open_flows=count, state=state))
                for state in _states(variant, experiment)
                for count in experiment.memory.in_order(state)
            ]
            loads = [
                Trial(variant.name, 0, number, ConstantLoad(offered_cps=rate))
                for rate in experiment.load.offered_cps
            ] + _http_trials(variant, number, experiment.http)
            if Counter(map(identity, holds)) <= done:
                holds = []
            turn = PlannedTurn(
                number, variant, holds, [trial for trial in loads if identity(trial) not in done]
            )
            turns += [turn] if turn.trials else []
    return turns


def identity(trial: Trial) -> tuple[object, ...]:
    """The values that identify a trial of the plan."""
    asked: tuple[object, ...] = (trial.offered_cps,)
    match trial.load:
        case HeldFlows() as held:
            asked = held.open_flows, held.state
        case HttpClients() as clients:
            asked = clients.test, clients.offered_rps
    return trial.server, trial.round, trial.load.kind, *asked


def _http_trials(variant: Variant, round_number: int, http: HttpLoad | None) -> list[Trial]:
    """One trial for each test, or for each of its rates; a closed loop has no rate."""
    return [
        Trial(variant.name, 0, round_number, HttpClients(test=test.name, offered_rps=rate))
        for test in (http.tests if http else ())
        if test.name not in variant.lacking_tests
        for rate in test.rates or (None,)
    ]


def _states(variant: Variant, experiment: Experiment) -> list[FlowState]:
    """States in which flows are held; most of them need a server on the kernel's stack."""
    states = experiment.memory.states
    return [s for s in states if s == "established" or server_class(variant.server).kernel_stack]


def seconds_of(trial: Trial, experiment: Experiment) -> float:
    """About how long a trial takes."""
    if isinstance(trial.load, HeldFlows):
        part = experiment.memory
        opening = trial.load.open_flows / part.open_cps
        return 2 * opening + part.settle_s + part.read_s + (HOLD_EXTRA_S if opening else 0)
    if experiment.http:
        http = experiment.http
        return http_seconds(http, http.sustain_s) + concurrency_seconds(http)
    load = experiment.load
    return load.warm_up_s + load.sustain_s + OVERHANG_S + LOAD_EXTRA_S


def http_seconds(http: HttpLoad, sustain_s: float) -> float:
    """About how long HTTP clients take for one trial."""
    return http.clients_run_s(sustain_s) + HTTP_EXTRA_S


def concurrency_seconds(http: HttpLoad) -> float:
    """Estimated duration of the search for the concurrency; 0 if it is given."""
    search = http.concurrency
    if search is None:
        return 0.0
    doublings = max(1, (search.most // search.first).bit_length())
    return doublings * http_seconds(http, search.trial_s)


def planned_seconds(turns: Sequence[PlannedTurn], experiment: Experiment) -> float:
    """About how long these turns take, without the report."""
    return sum(
        setup_seconds(experiment) + sum(seconds_of(trial, experiment) for trial in turn.trials)
        for turn in turns
    )


def setup_seconds(experiment: Experiment) -> float:
    """About how long it takes until a turn's first trial begins."""
    return HTTP_SETUP_S if experiment.http else SETUP_S
