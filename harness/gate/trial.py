"""What the gate keeps of a trial at saturation, small enough to be committed."""

from collections.abc import Collection, Sequence
from statistics import median

from pydantic import BaseModel, ConfigDict

from harness.analysis import cpu
from harness.analysis.breakdown import softirq_cost
from harness.analysis.flows import completed_rate
from harness.analysis.readings import Readings

KEPT_UP = 0.85  # of what is offered; a server that completes less is saturated
FULL_IDLE = 0.05  # of the server's cores; with more idle time they could do more
DIGITS = 6  # significant ones, in a file that people read


class GateTrial(BaseModel):
    """One trial. Rates in connections/s; `cpu` and `softirq` in us per completed connection.

    `cps`: `completed_cps` for whole cores: of a server that did not keep up with the offered load,
    divided by the share of its cores that other programs and the hypervisor left to it. `foreign`:
    the share that they took (0 to 1), None when it was not read. `idle`: the share of the server's
    cores that found nothing to do.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    cps: float
    completed_cps: float
    offered_cps: float
    cpu: dict[str, float | None]
    softirq: dict[str, float | None] = {}
    foreign: float | None = None
    idle: float | None = None

    @property
    def kept_up(self) -> bool:
        """Whether the server completed what was offered, so that its ceiling lies higher."""
        return _kept_up(self.completed_cps, self.offered_cps)

    @property
    def cores_full(self) -> bool:
        """Whether the server's cores could not do more; unknown counts as not."""
        return self.idle is not None and self.idle <= FULL_IDLE


def gate_trial(seen: Readings, cpus: Collection[int]) -> GateTrial | None:
    """From a trial's readings; None when its connections were not counted."""
    rate = completed_rate(seen)
    if rate is None:
        return None
    foreign = _taken_share(seen, cpus)
    left = 1.0 if _kept_up(rate, seen.trial.offered_cps) else 1 - (foreign or 0.0)
    return GateTrial(
        cps=_short(rate / left),
        completed_cps=_short(rate),
        offered_cps=seen.trial.offered_cps,
        cpu=_short_cost(cpu.server_cost(seen, cpus)),
        softirq=_short_cost(softirq_cost(seen, cpus)),
        foreign=None if foreign is None else _short(foreign),
        idle=_idle_share(seen, cpus),
    )


def foreign_share(trials: Sequence[GateTrial]) -> float:
    """Median over the trials of what others took of the server's cores."""
    return median([trial.foreign or 0.0 for trial in trials])


def _kept_up(completed_cps: float, offered_cps: float) -> bool:
    return completed_cps >= KEPT_UP * offered_cps


def _taken_share(seen: Readings, cpus: Collection[int]) -> float | None:
    """Share of the server's cores that other programs and the hypervisor took."""
    programs = cpu.foreign_share(seen, cpus)
    cores = [cpu.core_seconds(seen, each, "sustain") for each in cpus]
    if programs is None or None in cores:
        return programs
    stolen = sum(core.stolen or 0.0 for core in cores if core)
    return programs + stolen / (seen.trial.phases["sustain"].length * len(cpus))


def _idle_share(seen: Readings, cpus: Collection[int]) -> float | None:
    """Of a server that polls: the share of its time in which it polled in vain."""
    busy = cpu.engine_busy_share(seen, "peer")
    if busy is not None:
        return _short(1 - busy)
    cores = [cpu.core_seconds(seen, each, "sustain") for each in cpus]
    known = [core.idle for core in cores if core and core.idle is not None]
    if len(known) < len(cores):
        return None
    return _short(sum(known) / (seen.trial.phases["sustain"].length * len(cpus)))


def _short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def _short_cost(cost: cpu.Cost) -> cpu.Cost:
    return {kind: None if value is None else _short(value) for kind, value in cost.items()}
