"""The order of a run's trials, and how long each takes: A B A B, so that drift meets both alike."""

import itertools
from dataclasses import dataclass

from harness.experiment.load_trial import OVERHANG_S
from harness.experiment.schema import Experiment, ServerName
from harness.model import Trial

# Measured on a machine of two cores; they only serve the display of the time left.
SETUP_S = 6.0
LOAD_EXTRA_S = 0.6
HOLD_EXTRA_S = 1.5


@dataclass(frozen=True, slots=True)
class Turn:
    """One server's turn in one round: its trials, on a test bed of their own."""

    round: int
    server: ServerName
    holds: list[Trial]
    loads: list[Trial]


def plan(experiment: Experiment) -> list[Turn]:
    """All turns in order; trials are numbered from 1 in the order in which they run.

    Memory comes first in a turn: a server and the kernel keep some of what load made them take.
    """
    turns = []
    numbers = itertools.count(1)
    for number in range(1, experiment.rounds + 1):
        for server in experiment.servers:
            holds = [
                Trial(server, next(numbers), 0.0, load={"round": number, "open_flows": count})
                for count in experiment.memory.open_flows
            ]
            loads = [
                Trial(server, next(numbers), rate, load={"round": number})
                for rate in experiment.load.offered_cps
            ]
            turns.append(Turn(number, server, holds, loads))
    return turns


def seconds_of(trial: Trial, experiment: Experiment) -> float:
    """About how long a trial takes."""
    if "open_flows" in trial.load:
        part = experiment.memory
        opening = int(trial.load["open_flows"]) / part.open_cps
        return 2 * opening + part.settle_s + part.read_s + (HOLD_EXTRA_S if opening else 0)
    load = experiment.load
    return load.warm_up_s + load.sustain_s + OVERHANG_S + LOAD_EXTRA_S


def planned_seconds(experiment: Experiment) -> float:
    """About how long the whole run takes, without its report."""
    return sum(
        SETUP_S + sum(seconds_of(trial, experiment) for trial in turn.holds + turn.loads)
        for turn in plan(experiment)
    )
