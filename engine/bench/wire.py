"""Connections, frames and bytes a second: one data core plays both sides, in-memory wire."""

from typing import Any

from tools.engine import RPC_PORTS, driven, saturate
from tools.figures import Figure, Measured, Reference, number, report, say
from tools.machine import cpus

from stackcost.contracts.wiring import Port
from stackcost.trex.trex_config import TrexConfig

TREX_CPS = {100: 520_000, 32_000: 180_000}  # by the response's bytes
TREX_SOURCE = "one data core, both sides, a pair of in-memory rings, 2-core virtual machine"
TIMES_TREX = 2


def run(trials: int) -> dict[str, Any]:
    """Every size in turn in one engine."""
    taken = {size: figures_of(size) for size in TREX_CPS}
    wire = Port("wire")
    config = TrexConfig("bench", [wire, wire], [cpus()[0], cpus()[-1]], *RPC_PORTS)
    with driven(config) as engine:
        for trial in range(trials):
            for size, measured in taken.items():
                seen = saturate(engine, {"response_bytes": size}, f"{size:,}-byte responses")
                values = (
                    seen.connections,
                    seen.connections / seen.core_share,
                    seen.frames,
                    seen.bytes,
                )
                for one, value in zip(measured, values, strict=True):
                    one.trials.append(value)
                said = f"{number(values[0])} connections/s on {seen.core_share:.2f} of a core"
                say(trial, trials, f"{size:,} bytes: {said}")
    return report([measured for of_size in taken.values() for measured in of_size])


def figures_of(size: int) -> list[Measured]:
    """Connections, frames and bytes per second with responses of `size` bytes."""
    what = f"{size:,}-byte responses"
    offered = "more offered than the core can open, no failed flow, no segment sent twice"
    figures = (
        Figure(
            f"CPS, {what}",
            "connections/s",
            f"connections completed, opened and closed again, a second; {offered}",
            target=TIMES_TREX * TREX_CPS[size],
            references=(Reference("TRex 3.08", TREX_CPS[size], TREX_SOURCE),),
        ),
        Figure(
            f"CPS for a whole core, {what}",
            "connections/s",
            "the same over the data thread's own CPU time: the core to itself on a busy machine",
        ),
        Figure(f"frames, {what}", "frames/s", f"sent by both ports, uncut payload; {offered}"),
        Figure(f"bytes, {what}", "B/s", f"sent by both ports with headers, no FCS; {offered}"),
    )
    return [Measured(figure) for figure in figures]
