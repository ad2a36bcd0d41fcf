"""The gate's own figure. Its other one is a ceiling."""

from stackcost.analysis.cost import cpu
from stackcost.analysis.cost.core_time import Cost
from stackcost.analysis.cost.flows import completed_rate, kept_up
from stackcost.analysis.figures.figure import Figure
from stackcost.analysis.figures.groups import LoadTrials
from stackcost.analysis.readings import Readings


def whole_cores_rate(readings: Readings, cost: Cost) -> float | None:
    """The rate for whole cores at this `cost` per connection; None without connections, and where
    the cores had time left and a part of the cost is unknown.
    """
    rate = completed_rate(readings)
    if rate is None or not kept_up(rate, readings.trial.offered_cps):
        return rate
    share = _own_share(rate, cost, len(readings.cpus))
    return rate / share if share else None


def _own_share(rate: float, cost: Cost, cores: int) -> float | None:
    """Share of the cores' time that the server used; None if a part was not read."""
    parts = [part for part in cost.values() if part is not None]
    return rate * sum(parts) / cpu.MICROSECONDS / cores if len(parts) == len(cost) else None


WHOLE_CORES = Figure[LoadTrials](
    name="whole_cores_rate",
    unit="connections/s",
    definition="completed connections/s, divided by the share of the cores' time that the server "
    "used; not divided where they fell short of the offered load",
    source="completed_cps; server_cpu",
    of="gate",
    judged=True,
    compute=lambda loads: loads.each(
        lambda readings: whole_cores_rate(readings, cpu.server_cost(readings)),
        "no completed connections were counted, or a part of their cost was not read",
    ),
)
