"""Bytes of memory per open flow: the slope over 1 thousand, 100 thousand and 1 million flows."""

import statistics
from typing import Any

from tools.engine import RPC_PORTS, Driven, driven, resident_bytes
from tools.figures import Figure, Measured, number, report, say
from tools.held import hold
from tools.machine import cpus

from stackcost.contracts.wiring import Port
from stackcost.trex.trex_config import TrexConfig

HELD_FLOWS = (1_000, 100_000, 1_000_000)
RATE = 100_000
ENDS = 2  # of a connection, both on this engine

POOLS = Figure(
    "engine's pools, per end of a flow",
    "B",
    f"slope of what stackcost_get_memory reports over {HELD_FLOWS} connections with both ends on "
    "one engine, halved: flow, table, timers, client port",
    target=256,
    lower_is_better=True,
)
RESIDENT = Figure(
    "whole process, per end of a flow",
    "B",
    "the same slope of the process's resident memory",
    target=256,
    lower_is_better=True,
)


def run(trials: int) -> dict[str, Any]:
    """Each trial in an engine of its own, as pools do not shrink."""
    measured = [Measured(POOLS), Measured(RESIDENT)]
    wire = Port("wire")
    limit = ENDS * max(HELD_FLOWS) * 11 // 10
    config = TrexConfig("bench", [wire, wire], [cpus()[0], cpus()[-1]], *RPC_PORTS, flows=limit)
    for trial in range(trials):
        with driven(config) as engine:
            points = [read_held(engine, flows) for flows in HELD_FLOWS]
        for one, values in zip(measured, zip(*points, strict=True), strict=True):
            slope = statistics.linear_regression(HELD_FLOWS, values).slope
            one.trials.append(slope / ENDS)
        say(trial, trials, f"{number(measured[0].trials[-1])} B in pools per end of a flow")
    return report(measured)


def read_held(engine: Driven, flows: int) -> tuple[int, int]:
    """Pools' and process's bytes with so many connections open."""
    hold(engine, flows, RATE)
    pools = engine.client.call("stackcost_get_memory", {})["pools"]
    read = sum(pool["reserved_bytes"] for pool in pools), resident_bytes(engine.process_id)
    engine.client.stop()
    return read
