"""What the gate keeps of a trial, small enough to be committed."""

import math
from collections.abc import Collection, Sequence
from statistics import median

from pydantic import BaseModel, ConfigDict

from stackcost.analysis import core_time, cpu
from stackcost.analysis.breakdown import softirq_cost
from stackcost.analysis.core_time import Cost
from stackcost.analysis.flows import completed_rate, kept_up
from stackcost.analysis.readings import Readings
from stackcost.analysis.slowed import call_seconds, least_seconds, load_seconds
from stackcost.analysis.thresholds import (
    GATE_FOREIGN_LIMIT,
    GATE_FULL_IDLE,
    GATE_LEAST_JUDGED,
    SLOWED_LIMIT,
)
from stackcost.analysis.undisturbed import slowed_by, undisturbed

FASTEST_OF = 10  # of so many trials one may have been on a core that was faster than it is
NANOSECONDS = 1e9
DIGITS = 6  # significant ones, in a file that people read


class UncorrectedTrial(BaseModel):
    """Of a whole trial, with what neighbours on the host added: connections/s for whole cores, and
    what a load from shared memory and a pair of known system calls took.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    cps: float
    load_ns: float | None
    call_ns: float


class GateTrial(BaseModel):
    """One trial. Rates in connections/s; `cpu` and `softirq` in us per completed connection.

    `cps`: `completed_cps` for whole cores at their own speed. Of a server that kept up with the
    offered load, divided by the share of its cores' time that it took; of one that did not, by
    the share that other programs and the hypervisor left to it. Times 1 + `slowed`, by how
    much something outside of the machine slowed its cores. `counted_s`: seconds in which nothing
    did; if there are, share, `cpu` and `slowed` are of them alone. `full_speed_us`: the least that
    a piece of known work took on this test bed. `foreign`: the share that others took (0
    to 1). `idle`: the share of the server's cores that found nothing to do. `load_ns`: what a load
    from shared memory took in that time. None: not read. `whole`: None in trials of before it was
    kept.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    cps: float
    completed_cps: float
    offered_cps: float
    cpu: dict[str, float | None]
    softirq: dict[str, float | None] = {}
    foreign: float | None = None
    idle: float | None = None
    slowed: float | None = None
    counted_s: float | None = None
    load_ns: float | None = None
    full_speed_us: float | None = None
    whole: UncorrectedTrial | None = None

    @property
    def disturbed(self) -> bool:
        """Whether it says more of the machine than of the server."""
        return (self.foreign or 0.0) > GATE_FOREIGN_LIMIT or (self.slowed or 0.0) > SLOWED_LIMIT

    @property
    def kept_up(self) -> bool:
        """Whether the server completed what was offered, so that its ceiling lies higher."""
        return kept_up(self.completed_cps, self.offered_cps)

    @property
    def cores_full(self) -> bool:
        """Whether the server's cores could not do more; unknown counts as not."""
        return self.idle is not None and self.idle <= GATE_FULL_IDLE


def gate_trial(seen: Readings, cpus: Collection[int]) -> GateTrial | None:
    """From a trial's readings; None when its connections were not counted."""
    rate = completed_rate(seen)
    if rate is None:
        return None
    foreign, slowed = _taken_share(seen, cpus), slowed_by(seen, cpus)
    cost, counted = cpu.server_cost(seen, cpus), undisturbed(seen, cpus)
    share = whole_share = 1 - (foreign or 0.0)
    if kept_up(rate, seen.trial.offered_cps):
        share = _own_share(rate, cost, cpus) or 1.0
        whole_share = _own_share(rate, cpu.uncorrected_cost(seen, cpus), cpus) or 1.0
    load_s = counted.load_s if counted and counted.enough else None
    full_us = [(least_seconds(seen, each) or 0.0) * cpu.MICROSECONDS for each in cpus]
    return GateTrial(
        cps=_short(rate / share * (1 + (slowed or 0.0))),
        completed_cps=_short(rate),
        offered_cps=seen.trial.offered_cps,
        cpu=_short_cost(cost),
        softirq=_short_cost(softirq_cost(seen, cpus)),
        foreign=None if foreign is None else _short(foreign),
        idle=_idle_share(seen, cpus),
        slowed=None if slowed is None else _short(slowed),
        counted_s=_short(counted.seconds) if counted else None,
        load_ns=_short(load_s * NANOSECONDS) if load_s else None,
        full_speed_us=_short(max(full_us)) if all(full_us) else None,
        whole=_whole(seen, rate / whole_share),
    )


def _whole(seen: Readings, cps: float) -> UncorrectedTrial | None:
    load_s, call_s = load_seconds(seen), call_seconds(seen)
    if not call_s:
        return None
    load_ns = _short(load_s * NANOSECONDS) if load_s else None
    return UncorrectedTrial(cps=_short(cps), load_ns=load_ns, call_ns=_short(call_s * NANOSECONDS))


def judged(trials: Sequence[GateTrial], others: Sequence[GateTrial] = ()) -> list[GateTrial]:
    """Those that are comparable with each other and with the others.

    All of them when too few are, with what slowed the cores of their test bed corrected.
    """
    full_us = _full_speed([*trials, *others])
    found = comparable(trials, others)
    return found if len(found) >= GATE_LEAST_JUDGED else [_at(trial, full_us) for trial in trials]


def left_out(trials: Sequence[GateTrial], others: Sequence[GateTrial] = ()) -> list[int]:
    """Which of the trials, counted from 0, are not judged."""
    used = judged(trials, others)
    if len(used) == len(trials):
        return []
    return [at for at, trial in enumerate(trials) if trial not in used]


def comparable(trials: Sequence[GateTrial], others: Sequence[GateTrial] = ()) -> list[GateTrial]:
    """Those that were not disturbed, on cores that ran as fast once as they did in the others."""
    most = (1 + SLOWED_LIMIT) * _full_speed([*trials, *others])
    return [
        trial
        for trial in trials
        if not trial.disturbed and (trial.full_speed_us is None or trial.full_speed_us <= most)
    ]


def _full_speed(trials: Sequence[GateTrial]) -> float:
    """The least that the known work took, us; infinite when it was not read."""
    known = sorted(t.full_speed_us for t in trials if t.full_speed_us is not None)
    return known[len(known) // FASTEST_OF] if known else math.inf


def _at(trial: GateTrial, full_us: float) -> GateTrial:
    if trial.slowed is None or trial.full_speed_us is None:
        return trial
    slower = trial.full_speed_us / full_us
    slowed = (1 + trial.slowed) * slower - 1
    return trial.model_copy(update={"cps": trial.cps * slower, "slowed": slowed})


def foreign_share(trials: Sequence[GateTrial]) -> float:
    """Median over the trials of what others took of the server's cores."""
    return median([trial.foreign or 0.0 for trial in trials])


def slowed_share_of_trials(trials: Sequence[GateTrial]) -> float:
    """Median over the trials of how much slower the server's cores were than they can be."""
    return median([trial.slowed or 0.0 for trial in trials])


def _own_share(rate: float, cost: Cost, cpus: Collection[int]) -> float | None:
    """Share of the cores' time that the server took; None when a part of it was not read."""
    parts = [part for part in cost.values() if part is not None]
    return rate * sum(parts) / cpu.MICROSECONDS / len(cpus) if len(parts) == len(cost) else None


def _taken_share(seen: Readings, cpus: Collection[int]) -> float | None:
    """Share of the server's cores that other programs and the hypervisor took."""
    programs = core_time.foreign_share(seen, cpus)
    cores = [core_time.core_seconds(seen, each, "sustain") for each in cpus]
    if programs is None or None in cores:
        return programs
    stolen = sum(core.stolen or 0.0 for core in cores if core)
    return programs + stolen / (seen.phases["sustain"].length * len(cpus))


def _idle_share(seen: Readings, cpus: Collection[int]) -> float | None:
    """Of a server that polls: the share of its time in which it polled in vain."""
    busy = core_time.engine_busy_share(seen, "peer")
    if busy is not None:
        return _short(1 - busy)
    cores = [core_time.core_seconds(seen, each, "sustain") for each in cpus]
    known = [core.idle for core in cores if core and core.idle is not None]
    if len(known) < len(cores):
        return None
    return _short(sum(known) / (seen.phases["sustain"].length * len(cpus)))


def _short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def _short_cost(cost: Cost) -> Cost:
    return {kind: None if value is None else _short(value) for kind, value in cost.items()}
