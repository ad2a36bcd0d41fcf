"""Makes this machine the measuring machine of the gate."""

from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import Any

from stackcost.collect.machine import describe_machine
from stackcost.experiment.matrix import Variant
from stackcost.gate.bench import Bench, LocalBench, open_bench
from stackcost.gate.figure import CEILING, Figure
from stackcost.gate.search_bench import SearchBench, plan_of


class ThisMachine:
    """This machine. `results`: the folder for the runs; `command`: recorded in their manifests."""

    def __init__(self, results: Path, command: list[str]):
        self._results = results
        self._command = command

    def describe(self) -> dict[str, Any]:
        """The machine as it was at the first call."""
        return self._machine

    def open(self, target: Variant, figure: Figure) -> AbstractContextManager[Bench]:
        """Open a bench that measures the figure; StackcostError without root."""
        if figure == CEILING:
            planned = plan_of(target).describe()
            return open_bench(target, self._results, self._command, SearchBench, planned)
        planned = target.experiment.model_dump(mode="json")
        return open_bench(target, self._results, self._command, LocalBench, planned)

    @cached_property
    def _machine(self) -> dict[str, Any]:
        return describe_machine()
