"""Connections, frames and bytes a second: one data core plays both sides, in-memory wire."""

from dataclasses import dataclass
from typing import Any

from tools.engine import RPC_PORTS, driven, saturate
from tools.figures import Figure, Measured, Reference, number, report, say
from tools.machine import cpus

from stackcost.contracts.wiring import Port
from stackcost.trex.trex_config import TrexConfig

TREX_SOURCE = "one data core, both sides, in-memory rings, the MSS, 2-core virtual machine"
TIMES_TREX = 4


@dataclass(frozen=True, slots=True)
class Case:
    """Responses of `size` bytes; `trex_cps` is what TRex 3.08 completed with the same frames."""

    size: int
    segmentation_offload: bool
    trex_cps: int | None

    @property
    def what(self) -> str:
        """What the figures are of."""
        frames = "" if self.segmentation_offload else ", frames of the MSS"
        return f"{self.size:,}-byte responses{frames}"


CASES = (Case(100, True, 236_000), Case(32_000, True, None), Case(32_000, False, 47_000))


def run(trials: int) -> dict[str, Any]:
    """Every case in turn."""
    taken = {case: figures_of(case) for case in CASES}
    for trial in range(trials):
        for case, measured in taken.items():
            with driven(config_of(case)) as engine:
                seen = saturate(engine, {"response_bytes": case.size}, case.what)
            values = (
                seen.connections,
                seen.connections / seen.core_share,
                seen.frames,
                seen.bytes,
            )
            for one, value in zip(measured, values, strict=True):
                one.trials.append(value)
            said = f"{number(values[0])} connections/s on {seen.core_share:.2f} of a core"
            say(trial, trials, f"{case.what}: {said}")
    return report([measured for of_case in taken.values() for measured in of_case])


def config_of(case: Case) -> TrexConfig:
    """One engine with both ends of a wire."""
    wire = Port("wire")
    data_cpus = [cpus()[0], cpus()[-1]]
    offload = case.segmentation_offload
    return TrexConfig("bench", [wire, wire], data_cpus, *RPC_PORTS, segmentation_offload=offload)


def figures_of(case: Case) -> list[Measured]:
    """Connections, frames and bytes per second of one case."""
    what = case.what
    offered = "more offered than the core can open, no failed flow, no segment sent twice"
    trex = case.trex_cps
    figures = (
        Figure(
            f"CPS, {what}",
            "connections/s",
            f"connections completed, opened and closed again, a second; {offered}",
            target=TIMES_TREX * trex if trex else None,
            references=(Reference("TRex 3.08", trex, TREX_SOURCE),) if trex else (),
        ),
        Figure(
            f"CPS for a whole core, {what}",
            "connections/s",
            "the same over the data thread's own CPU time: the core to itself on a busy machine",
        ),
        Figure(f"frames, {what}", "frames/s", f"sent by both ports; {offered}"),
        Figure(f"bytes, {what}", "B/s", f"sent by both ports with headers, no FCS; {offered}"),
    )
    return [Measured(figure) for figure in figures]
