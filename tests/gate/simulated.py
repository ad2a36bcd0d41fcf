"""A simulated measuring machine: a server with a known ceiling on a machine with a name."""

import random
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stackcost.contracts.errors import StackcostError
from stackcost.experiment.matrix import Variant
from stackcost.gate.figure import CEILING, WHOLE_CORES, Figure
from stackcost.gate.trial import GateTrial

UNSURE = "all losses are of disturbed trials"
CPU = {"user": 10.0, "system": 40.0, "irq": 5.0, "softirq": 60.0}


@dataclass
class Simulated:
    """Completes `ceiling` connections/s, give or take `noise` (standard deviation, a share).

    `disturbed`: of so many of four trials no part was free of a neighbour, and their noise is
    four times as large. `real`: share of the rate for whole cores at which a limit of its own, such
    as a lock, ends what the server does.
    `fails`: the error in place of a measurement.
    `log`: takes a line at the begin and at the end of each use, to see whether two overlap.
    """

    ceiling: float = 8000.0
    noise: float = 0.01
    softirq_us: float = 60.0
    foreign: float = 0.0
    stolen: float = 0.0
    slowed: float = 0.0
    disturbed: int = 0
    real: float = 1.0
    full_speed_us: float = 5.9
    processor: str = "Processor A"
    configuration: str = "worker_processes 1;\nsendfile on;\n"
    log: str = ""
    seed: int = 1
    folder: str = "results/simulated"
    fails: str = ""
    loads: list[float] = field(default_factory=list)
    aside: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._figure: Figure = WHOLE_CORES

    def describe(self) -> dict[str, Any]:
        return {
            "processors": {"model": self.processor, "architecture": "x86_64", "online": [0, 1]},
            "memory": {"MemTotal": "4000000 kB"},
            "kernel": {"release": "6.18"},
            "source": {"commit": "0123456789abcdef"},
        }

    @contextmanager
    def open(self, target: Variant, figure: Figure) -> Iterator["Simulated"]:
        self._figure = figure
        if self.fails:
            raise StackcostError(self.fails)
        self._note("begin")
        if self.log:
            time.sleep(0.1)  # long enough for another to come in between
        yield self
        self._note("end")

    def setup(self) -> dict[str, Any]:
        return {"machine": self.describe(), "server": {"configuration": self.configuration}}

    def steady_load(self) -> float:
        return 0.55 * self.ceiling

    def measure(self, offered_cps: float) -> GateTrial:
        self.loads.append(offered_cps)
        disturbed = len(self.loads) % 4 < self.disturbed
        noise = 4 * self.noise if disturbed else self.noise
        cps = self.ceiling * self._random.gauss(1, noise)
        if self._figure == CEILING:
            return GateTrial.of_search(self.real * cps, UNSURE if disturbed else "")
        return GateTrial(
            cps=cps,
            completed_cps=cps * (1 - self.foreign),
            offered_cps=offered_cps,
            cpu=CPU | {"softirq": self.softirq_us},
            softirq={"NET_RX": self.softirq_us - 5, "TIMER": 2.0},
            foreign=self.foreign,
            stolen=self.stolen,
            idle=0.0,
            slowed=0.1 if disturbed else self.slowed,
            full_speed_us=self.full_speed_us,
        )

    def set_aside(self, reasons: Mapping[int, str]) -> None:
        self.aside = dict(reasons)

    def _note(self, what: str) -> None:
        if self.log:
            with Path(self.log).open("a") as file:
                file.write(f"{what}\n")
