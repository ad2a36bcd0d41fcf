"""A trial as a gate keeps it: figures of the registry, and why it is not judged."""

import math
from collections import Counter
from collections.abc import Sequence
from statistics import median

from pydantic import BaseModel, ConfigDict

from stackcost.analysis.context import Context
from stackcost.analysis.cost import core_time, cpu
from stackcost.analysis.cost.flows import completed_rate, kept_up
from stackcost.analysis.cost.slowed import least_seconds
from stackcost.analysis.cost.undisturbed import slowed_by
from stackcost.analysis.figures import registry
from stackcost.analysis.figures.counted import is_counted
from stackcost.analysis.figures.groups import LoadTrials
from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.overload import out_of_time
from stackcost.analysis.trial.remedies import remedy
from stackcost.analysis.trial.thresholds import GATE_FOREIGN_LIMIT, GATE_LEAST_JUDGED, SLOWED_LIMIT
from stackcost.contracts.errors import StackcostError
from stackcost.gate.figure import COST, WHOLE_CORES

FASTEST_OF = 10  # one of so many trials may have run at an unusually high clock frequency
DIGITS = 6  # significant ones, in a file that people read
KEPT = (  # figures, with their kinds, that are judged or explain what is
    *("whole_cores_rate", "completed_cps", "server_cpu", "softirq", "undisturbed"),
    *("memory_read_time", "system_call_time"),
    *("instructions", "instructions_by_function"),
)


class GateTrial(BaseModel):
    """One trial, or one search. `figures`: by the names of docs/figures.md; what was not read is
    absent. `number`: in its run; 0 of a search. `disturbed`: what changed the figures too much.
    `full_speed_us`: least time that known work took on the slowest of the cores of its test bed.
    `limited`: the server completed less than offered, though its cores were not full.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    figures: dict[str, float]
    number: int = 0
    disturbed: str = ""
    full_speed_us: float | None = None
    limited: bool = False


def gate_trial(readings: Readings, context: Context) -> GateTrial:
    """The short form of a trial: its figures are those of a load with this one trial.

    StackcostError if no connection was counted.
    """
    load = LoadTrials([readings], context)
    every = {name: each.median for name, each in registry.of_load(load).items()}
    trial = GateTrial(
        number=readings.trial.number,
        figures={
            name: float(f"{value:.{DIGITS}g}")
            for name, value in every.items()
            if value is not None and name.partition(".")[0] in KEPT
        },
    )
    if not trial.figures.keys() & {WHOLE_CORES.name, COST.name}:
        raise StackcostError(
            f"no connection was counted in trial {trial.number} of {readings.trial.server}",
            "see the logs in the run's folder",
        )
    if is_counted(load):
        return trial  # no clock of this machine is in it
    least = [least_seconds(readings, each) or 0.0 for each in readings.cpus]
    rate = completed_rate(readings)
    behind = rate is not None and not kept_up(rate, readings.trial.offered_cps)
    return trial.model_copy(
        update={
            "full_speed_us": max(least) * cpu.MICROSECONDS if all(least) else None,
            "disturbed": disturbance(*_taken_shares(readings), slowed_by(readings)),
            "limited": behind and not out_of_time(readings),
        }
    )


def disturbance(foreign: float | None, stolen: float | None, slowed: float | None) -> str:
    """What changed a trial's figures too much; empty if nothing did.

    `foreign`: share of the server's cores (0 to 1) that others used: programs, and of it `stolen`
    the hypervisor. `slowed`: by how much something outside of the machine slowed the cores.
    """
    if (foreign or 0.0) > GATE_FOREIGN_LIMIT:
        who = "the hypervisor" if (stolen or 0.0) > (foreign or 0.0) / 2 else "other programs"
        return f"{who} used more than {GATE_FOREIGN_LIMIT:.0%} of the server's cores"
    if (slowed or 0.0) > SLOWED_LIMIT:
        return f"a neighbour slowed the server's cores by more than {SLOWED_LIMIT:.0%}"
    return ""


def _taken_shares(readings: Readings) -> tuple[float | None, float | None]:
    """Shares of the server's cores that programs and the hypervisor used, and that it alone did."""
    programs = core_time.foreign_share(readings)
    cores = [core_time.core_seconds(readings, each) for each in readings.cpus]
    if programs is None or None in cores:
        return programs, None
    stolen = sum(core.stolen or 0.0 for core in cores if core)
    share = stolen / (readings.phases["sustain"].length * len(readings.cpus))
    return programs + share, share


def comparable(trials: Sequence[GateTrial], others: Sequence[GateTrial] = ()) -> list[GateTrial]:
    """The undisturbed trials whose cores reached the same full speed as those of the others.

    Only these are judged.
    """
    aside = left_out(trials, others)
    return [trial for at, trial in enumerate(trials) if at not in aside]


def left_out(trials: Sequence[GateTrial], others: Sequence[GateTrial] = ()) -> dict[int, str]:
    """Indices (from 0) of the trials that are not judged, each with the reason."""
    most = (1 + SLOWED_LIMIT) * _full_speed([*trials, *others])
    slow = "the cores of its test bed never reached the speed of the others"
    reasons = [
        trial.disturbed or (slow if (trial.full_speed_us or 0.0) > most else "") for trial in trials
    ]
    return {at: reason for at, reason in enumerate(reasons) if reason}


def _full_speed(trials: Sequence[GateTrial]) -> float:
    """Shortest duration of the known work, us; infinite if it was not read."""
    known = sorted(t.full_speed_us for t in trials if t.full_speed_us is not None)
    return known[len(known) // FASTEST_OF] if known else math.inf


def too_few(trials: Sequence[GateTrial], others: Sequence[GateTrial] = ()) -> str:
    """Why these trials cannot be judged, and what helps: too many are left out; else empty."""
    reasons = left_out(trials, others)
    if not reasons or len(trials) - len(reasons) >= GATE_LEAST_JUDGED:
        return ""
    ((helps, _),) = Counter(map(remedy, reasons.values())).most_common(1)
    return f"{left_out_words(trials, others)}. {helps}"


def left_out_words(trials: Sequence[GateTrial], others: Sequence[GateTrial] = ()) -> str:
    """How many trials are not judged, and why; empty if all are."""
    reasons = left_out(trials, others)
    if not reasons:
        return ""
    counts = Counter(reasons.values()).most_common()
    words = "; ".join(f"in {number} of them {reason}" for reason, number in counts)
    return f"{len(reasons)} of {len(trials)} trials were left out: {words}"


def middle(trials: Sequence[GateTrial], name: str) -> float | None:
    """The median of a figure over the trials that have it."""
    known = [trial.figures[name] for trial in trials if name in trial.figures]
    return median(known) if known else None
