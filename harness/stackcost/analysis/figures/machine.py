"""Figures of the machine during a load: what slowed it, what it accounts for, its energy."""

from stackcost.analysis.cost import core_time, flows
from stackcost.analysis.cost.core_time import accounted_time
from stackcost.analysis.cost.slowed import mean_nanoseconds
from stackcost.analysis.cost.undisturbed import undisturbed
from stackcost.analysis.figures.figure import Figure, Values
from stackcost.analysis.figures.groups import LoadTrials
from stackcost.analysis.readings import Readings
from stackcost.contracts.metrics import (
    CORE_MEMORY_READ_TIME,
    CORE_SYSTEM_CALL_TIME,
    ENERGY_USED,
)

MILLION = 1e6
NOT_CUT = "not cut into slices: HTTP clients, a search, or a server that did not keep up"
NOT_READ = "not read in runs of that time"


def _joules(readings: Readings) -> float | None:
    used = readings.growth(ENERGY_USED)
    return flows.per_connection(readings, None if used is None else MILLION * used)


def _energy(loads: LoadTrials) -> Values:
    reason = loads.first_reason(flows.why_no_connection) or loads.first_reason(
        lambda readings: readings.why_unknown(ENERGY_USED)
    )
    return loads.each(_joules, reason or NOT_READ)


UNDISTURBED = Figure[LoadTrials](
    name="undisturbed",
    unit="s",
    definition="time of the sustain window in slices of 0.1 s in which known work on the server's "
    "cores took at most 2 % more than its minimum; if it is 1 s or more, server_cpu, "
    "server_cpu_total, softirq and threads use only this time",
    source="harness/stackcost/collect/core_speed.c, the CPU account, a peer's stackcost_get_cpu, "
    "each read ten times a second",
    of="load",
    of_trials=True,
    compute=lambda loads: loads.each(
        lambda readings: found.seconds if (found := undisturbed(readings)) else None, NOT_CUT
    ),
)
MEMORY_READ_TIME = Figure[LoadTrials](
    name="memory_read_time",
    unit="ns",
    definition="time of one read from memory that is in no core's own caches: how busy the host's "
    "shared caches and memory are",
    source="harness/stackcost/collect/core_speed.c, over the whole sustain window",
    of="load",
    of_trials=True,
    compute=lambda loads: loads.each(
        lambda readings: mean_nanoseconds(readings, CORE_MEMORY_READ_TIME)
    ),
)
SYSTEM_CALL_TIME = Figure[LoadTrials](
    name="system_call_time",
    unit="ns",
    definition="duration of two known system calls on the server's cores, over the whole sustain "
    "window",
    source="harness/stackcost/collect/core_speed.c",
    of="load",
    of_trials=True,
    compute=lambda loads: loads.each(
        lambda readings: mean_nanoseconds(readings, CORE_SYSTEM_CALL_TIME)
    ),
)
ACCOUNTED_SHARE = Figure[LoadTrials](
    name="accounted_share",
    unit="1",
    definition="exact time of all kinds over all cores / (wall time x cores); stolen time is part "
    "of the kind that it interrupted",
    source="cpu.exact_time",
    of="load",
    compute=lambda loads: loads.each(
        lambda readings: found.share if (found := accounted_time(readings)) else None
    ),
)
RECEIVE_SHARE = Figure[LoadTrials](
    name="receive_share",
    unit="1",
    definition="share of the machine's receive work that ran on the server's cores: NET_RX "
    "softirq anywhere, and the threads that poll an interface on these cores",
    source="softirq.time, vector NET_RX; task.time of napi/*",
    of="load",
    compute=lambda loads: loads.each(
        core_time.receive_share, loads.first_reason(core_time.why_no_receive_share)
    ),
)
ENERGY = Figure[LoadTrials](
    name="energy",
    unit="J",
    definition="energy of all processor packages, with the generator's part and idle cores, for a "
    "million completed connections",
    source="/sys/class/powercap/intel-rapl:*/energy_uj",
    of="load",
    compute=_energy,
)
