"""The gate's short form of a trial, small enough to commit."""

import math
from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import Self

from pydantic import BaseModel, ConfigDict

from stackcost.analysis import core_time, cpu
from stackcost.analysis.breakdown import softirq_cost
from stackcost.analysis.core_time import Cost
from stackcost.analysis.figures.gate import whole_cores_rate
from stackcost.analysis.flows import completed_rate, kept_up
from stackcost.analysis.readings import Readings
from stackcost.analysis.remedies import remedy
from stackcost.analysis.slowed import least_seconds, memory_read_seconds, system_call_seconds
from stackcost.analysis.thresholds import (
    GATE_FOREIGN_LIMIT,
    GATE_FULL_IDLE,
    GATE_LEAST_JUDGED,
    SLOWED_LIMIT,
)
from stackcost.analysis.undisturbed import slowed_by, undisturbed

FASTEST_OF = 10  # one of so many trials may have run at an unusually high clock frequency
NANOSECONDS = 1e9
DIGITS = 6  # significant ones, in a file that people read


class UncorrectedTrial(BaseModel):
    """Figures of a whole trial, not corrected for other load on the host.

    `cps`: connections/s for whole cores. `memory_read_ns`: time of one read from shared memory.
    `system_call_ns`: duration of a pair of known system calls.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    cps: float
    memory_read_ns: float | None
    system_call_ns: float


class GateTrial(BaseModel):
    """One trial. Rates in connections/s; `cpu` and `softirq` in us per completed connection.

    `cps`: the rate for whole cores: `completed_cps`, divided by the share of the cores' time that
    the server used. If the server fell short of the offered load, it is `completed_cps` itself.
    `slowed`: by how much something outside the machine slowed the cores. `counted_s`: seconds
    without such slowing; if there are any, the share, `cpu` and `slowed` are from these seconds.
    `full_speed_us`: shortest duration of a known piece of work on this test bed. `foreign`: share
    of the cores (0 to 1) that others used: programs, and of it `stolen` the hypervisor; None in
    older trials. `idle`: idle share of the server's cores.
    `memory_read_ns`: time of one read from shared memory. None: not read. `whole`: None in older
    trials, which did not store it, and of searches. `unsure`: why a search for the ceiling tells
    nothing.

    A search is one trial: its rates are the ceiling, and it has no CPU time.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    cps: float
    completed_cps: float
    offered_cps: float
    cpu: dict[str, float | None]
    softirq: dict[str, float | None] = {}
    foreign: float | None = None
    stolen: float | None = None
    idle: float | None = None
    slowed: float | None = None
    counted_s: float | None = None
    memory_read_ns: float | None = None
    full_speed_us: float | None = None
    whole: UncorrectedTrial | None = None
    unsure: str = ""

    @classmethod
    def of_search(cls, ceiling: float, unsure: str = "") -> Self:
        """One search for the ceiling, connections/s."""
        rate = _short(ceiling)
        return cls(cps=rate, completed_cps=rate, offered_cps=rate, cpu={}, unsure=unsure)

    @property
    def disturbance(self) -> str:
        """What changed the figures too much; empty if nothing did."""
        if (foreign := self.foreign or 0.0) > GATE_FOREIGN_LIMIT:
            who = "the hypervisor" if (self.stolen or 0.0) > foreign / 2 else "other programs"
            return f"{who} used more than {GATE_FOREIGN_LIMIT:.0%} of the server's cores"
        if (self.slowed or 0.0) > SLOWED_LIMIT:
            return f"a neighbour slowed the server's cores by more than {SLOWED_LIMIT:.0%}"
        return self.unsure

    @property
    def kept_up(self) -> bool:
        """Whether the server completed the offered load, so that it can do more."""
        return kept_up(self.completed_cps, self.offered_cps)

    @property
    def cores_full(self) -> bool:
        """Whether the server's cores had no idle time; unknown counts as no."""
        return self.idle is not None and self.idle <= GATE_FULL_IDLE


def gate_trial(seen: Readings) -> GateTrial | None:
    """The short form of a trial; None if its connections were not counted."""
    rate = completed_rate(seen)
    if rate is None:
        return None
    (foreign, stolen), slowed = _taken_shares(seen), slowed_by(seen)
    cost, counted = cpu.server_cost(seen), undisturbed(seen)
    memory_read_s = counted.memory_read_s if counted and counted.enough else None
    full_us = [(least_seconds(seen, each) or 0.0) * cpu.MICROSECONDS for each in seen.cpus]
    return GateTrial(
        cps=_short(whole_cores_rate(seen, cost) or rate),
        completed_cps=_short(rate),
        offered_cps=seen.trial.offered_cps,
        cpu=_short_cost(cost),
        softirq=_short_cost(softirq_cost(seen)),
        foreign=None if foreign is None else _short(foreign),
        stolen=None if stolen is None else _short(stolen),
        idle=_idle_share(seen),
        slowed=None if slowed is None else _short(slowed),
        counted_s=_short(counted.seconds) if counted else None,
        memory_read_ns=_short(memory_read_s * NANOSECONDS) if memory_read_s else None,
        full_speed_us=_short(max(full_us)) if all(full_us) else None,
        whole=_whole(seen, rate),
    )


def _whole(seen: Readings, rate: float) -> UncorrectedTrial | None:
    memory_read_s, call_s = memory_read_seconds(seen), system_call_seconds(seen)
    if not call_s:
        return None
    memory_read_ns = _short(memory_read_s * NANOSECONDS) if memory_read_s else None
    cps = whole_cores_rate(seen, cpu.uncorrected_cost(seen)) or rate
    return UncorrectedTrial(
        cps=_short(cps), memory_read_ns=memory_read_ns, system_call_ns=_short(call_s * NANOSECONDS)
    )


def comparable(trials: Sequence[GateTrial], others: Sequence[GateTrial] = ()) -> list[GateTrial]:
    """The undisturbed trials whose cores reached the same full speed as those of the others.

    Only these are judged.
    """
    aside = left_out(trials, others)
    return [trial for at, trial in enumerate(trials) if at not in aside]


def left_out(trials: Sequence[GateTrial], others: Sequence[GateTrial] = ()) -> dict[int, str]:
    """Indices (from 0) of the trials that are not judged, each with the reason."""
    most = (1 + SLOWED_LIMIT) * _full_speed([*trials, *others])
    aside = {}
    for at, trial in enumerate(trials):
        if reason := trial.disturbance:
            aside[at] = reason
        elif trial.full_speed_us is not None and trial.full_speed_us > most:
            aside[at] = "the cores of its test bed never reached the speed of the others"
    return aside


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


def _full_speed(trials: Sequence[GateTrial]) -> float:
    """Shortest duration of the known work, us; infinite if it was not read."""
    known = sorted(t.full_speed_us for t in trials if t.full_speed_us is not None)
    return known[len(known) // FASTEST_OF] if known else math.inf


def foreign_share(trials: Sequence[GateTrial]) -> float:
    """Median over the trials of the share of the server's cores that other programs used."""
    return median([trial.foreign or 0.0 for trial in trials])


def _taken_shares(seen: Readings) -> tuple[float | None, float | None]:
    """Shares of the server's cores that programs and the hypervisor used, and that it alone did."""
    programs = core_time.foreign_share(seen)
    cores = [core_time.core_seconds(seen, each) for each in seen.cpus]
    if programs is None or None in cores:
        return programs, None
    stolen = sum(core.stolen or 0.0 for core in cores if core)
    share = stolen / (seen.phases["sustain"].length * len(seen.cpus))
    return programs + share, share


def _idle_share(seen: Readings) -> float | None:
    """Idle share of the server's cores; for a polling server the share of empty polls."""
    busy = core_time.engine_busy_share(seen, "peer")
    if busy is not None:
        return _short(1 - busy)
    cores = [core_time.core_seconds(seen, each) for each in seen.cpus]
    known = [core.idle for core in cores if core and core.idle is not None]
    if len(known) < len(cores):
        return None
    return _short(sum(known) / (seen.phases["sustain"].length * len(seen.cpus)))


def _short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def _short_cost(cost: Cost) -> Cost:
    return {kind: None if value is None else _short(value) for kind, value in cost.items()}
