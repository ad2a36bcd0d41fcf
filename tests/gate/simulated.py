"""A simulated measuring machine: a server with a known ceiling on a machine with a name."""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stackcost.contracts.errors import StackcostError
from stackcost.experiment.matrix import Variant
from stackcost.gate.figure import CEILING, WHOLE_CORES, Judged
from stackcost.gate.trial import GateTrial, disturbance
from stackcost.store import Manifest, RunFolder

UNSURE = "all losses are of disturbed trials"
CPU = {"user": 10.0, "system": 40.0, "irq": 5.0, "softirq": 60.0}
COUNTS = {"tcp_ack": 1275.0, "nf_hook_slow": 100.0, "others": 98_625.0}


@dataclass
class Simulated:
    """Completes `ceiling` connections/s, give or take `noise` (standard deviation, a share).

    `disturbed`: of so many of four trials no part was free of a neighbour, and their noise is
    four times as large. `real`: share of the rate for whole cores at which a limit of its own, such
    as a lock, ends what the server does. `counts`: instructions of a connection, by function.
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
    counts: dict[str, float] = field(default_factory=COUNTS.copy)
    processor: str = "Processor A"
    configuration: str = "worker_processes 1;\nsendfile on;\n"
    kernel: str = "6.1.0-56"
    program: str = "nginx a"
    log: str = ""
    seed: int = 1
    place: str = "results/simulated"
    fails: str = ""
    loads: list[float] = field(default_factory=list)
    load: float = 0.0

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._figure = WHOLE_CORES
        self.folder = RunFolder(Path(self.place))

    def describe(self) -> dict[str, Any]:
        return {
            "processors": {"model": self.processor, "architecture": "x86_64", "online": [0, 1]},
            "memory": {"MemTotal": "4000000 kB"},
            "kernel": {"release": "6.18"},
            "source": {"commit": "0123456789abcdef"},
        }

    @contextmanager
    def open(
        self,
        target: Variant,
        figure: Judged,
        load: float | None,
        say: Callable[[str], None],
    ) -> Iterator["Simulated"]:
        self._figure = figure
        self.load = 0.55 * self.ceiling if load is None else load
        if self.fails:
            raise StackcostError(self.fails)
        self._note("begin")
        if self.log:
            time.sleep(0.1)  # long enough for another to come in between
        self._write_manifest(target, figure)
        yield self
        self._note("end")

    def _write_manifest(self, target: Variant, figure: Judged) -> None:
        counted = {"counted": {"kernel": self.kernel}} if figure.counted else {}
        self.folder.path.mkdir(parents=True, exist_ok=True)
        self.folder.write_manifest(
            Manifest(
                run=self.folder.name,
                experiment=target.experiment.model_dump(mode="json"),
                machine=self.describe(),
                test_bed={target.name: counted},
                servers={
                    target.name: {"configuration": self.configuration, "program": self.program}
                },
            )
        )

    def measure(self) -> GateTrial:
        self.loads.append(self.load)
        disturbed = len(self.loads) % 4 < self.disturbed
        noise = 4 * self.noise if disturbed else self.noise
        cps = self.ceiling * self._random.gauss(1, noise)
        if self._figure.counted:
            functions = {f"instructions_by_function.{n}": each for n, each in self.counts.items()}
            return GateTrial(figures={"instructions": sum(self.counts.values())} | functions)
        if self._figure == CEILING:
            figures = {CEILING.name: self.real * cps}
            return GateTrial(figures=figures, disturbed=UNSURE if disturbed else "")
        cpu = CPU | {"softirq": self.softirq_us}
        softirq = {"NET_RX": self.softirq_us - 5, "TIMER": 2.0}
        return GateTrial(
            number=len(self.loads),
            figures={
                "whole_cores_rate": cps,
                **{f"server_cpu.{kind}": each for kind, each in cpu.items()},
                **{f"softirq.{vector}": each for vector, each in softirq.items()},
            },
            disturbed=disturbance(self.foreign, self.stolen, 0.1 if disturbed else self.slowed),
            full_speed_us=self.full_speed_us,
        )

    def _note(self, what: str) -> None:
        if self.log:
            with Path(self.log).open("a") as file:
                file.write(f"{what}\n")
