"""Ten million connections open at once, both ends in one engine: memory, and starts held up."""

from typing import Any

from tools.engine import RPC_PORTS, driven, resident_bytes
from tools.figures import Figure, Measured, number, report, say
from tools.held import hold
from tools.machine import cpus

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.wiring import Port
from stackcost.trex.trex_config import TrexConfig

FLOWS = 10_000_000
ENDS = 2  # of a connection, both on this engine
RATE = 200_000
GIGABYTE = 1e9
LARGEST_GB = 6.0

RESIDENT = Figure(
    "whole process, 10 million connections open",
    "GB",
    "resident memory with both ends of each on one engine, huge pages left out",
    target=LARGEST_GB,
    lower_is_better=True,
)
PER_END = Figure(
    "whole process, per end of a flow", "B", "the same over 20 million ends", lower_is_better=True
)
LATE = Figure(
    "opened late",
    "%",
    f"share of connections opened over 1 ms after their time at {RATE:,} a second: what pools and "
    "tables that grow hold up, and other work on this CPU",
)


def run(trials: int) -> dict[str, Any]:
    """Once, whatever `trials`: it takes minutes, and memory does not vary."""
    free = available_bytes()
    if free < 1.2 * LARGEST_GB * GIGABYTE:
        raise StackcostError(
            f"{free / GIGABYTE:.1f} GB of memory free", f"it takes {1.2 * LARGEST_GB:.1f} GB"
        )
    measured = [Measured(RESIDENT), Measured(PER_END), Measured(LATE)]
    wire = Port("wire")
    limit = ENDS * FLOWS * 11 // 10
    config = TrexConfig("bench", [wire, wire], [cpus()[0], cpus()[-1]], *RPC_PORTS, flows=limit)
    with driven(config) as engine:
        hold(engine, FLOWS, RATE)
        resident = resident_bytes(engine.process_id)
        schedule = engine.client.call("stackcost_get_schedule", {"profile_id": "_"})
        engine.client.stop()
    values = (
        resident / GIGABYTE,
        resident / (ENDS * FLOWS),
        100 * schedule["late"] / schedule["opened"],
    )
    for one, value in zip(measured, values, strict=True):
        one.trials.append(value)
    say(0, 1, f"{number(values[0])} GB")
    return report(measured)


def available_bytes() -> int:
    """Memory that may be had without swapping (MemAvailable of /proc/meminfo)."""
    with open("/proc/meminfo") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if "MemAvailable" in line)
