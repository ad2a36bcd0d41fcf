"""Two data cores against one: connections a second on in-memory wires, both sides on each core."""

from typing import Any

from tools.engine import RPC_PORTS, Rates, driven, saturate
from tools.figures import Figure, Measured, number, report, say
from tools.machine import cpus

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.wiring import Port
from stackcost.trex.trex_config import TrexConfig

RESPONSE_BYTES = 100
OFFERED = "more offered than the cores can open, no failed flow, no segment sent twice"


def run(trials: int) -> dict[str, Any]:
    """One core and two in turn; control shares the first CPU."""
    if len(cpus()) < 2:
        raise StackcostError("one CPU only", "give the benchmark two")
    one, two, whole, ratio = measured = [
        Measured(Figure("CPS, one data core", "connections/s", OFFERED)),
        Measured(Figure("CPS, two data cores", "connections/s", OFFERED)),
        Measured(
            Figure(
                "two against one, per second of CPU",
                "",
                "connections for each second of the data threads' CPU time, two cores against one: "
                "1 when cores do not hinder each other",
            )
        ),
        Measured(Figure("two against one", "", "CPS of two data cores over CPS of one")),
    ]
    for trial in range(trials):
        single, double = rates_with(cpus()[-1:]), rates_with([cpus()[0], cpus()[-1]])
        one.trials.append(single.connections)
        two.trials.append(double.connections)
        efficiency = [seen.connections / seen.core_share for seen in (single, double)]
        whole.trials.append(efficiency[1] / efficiency[0])
        ratio.trials.append(double.connections / single.connections)
        say(trial, trials, f"{number(single.connections)}, {number(double.connections)}")
    return report(measured)


def rates_with(data_cpus: list[int]) -> Rates:
    """Rates of an engine with a data core on each of these CPUs."""
    wire = Port("wire")
    config = TrexConfig("bench", [wire, wire], [cpus()[0], *data_cpus], *RPC_PORTS)
    with driven(config) as engine:
        return saturate(engine, {"response_bytes": RESPONSE_BYTES}, f"{len(data_cpus)} cores")
