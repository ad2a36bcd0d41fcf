"""Makes this machine the measuring machine of the gate."""

from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import Any

from stackcost.collect.machine import describe_machine
from stackcost.harness.experiment.matrix import Variant
from stackcost.harness.gate.bench import Bench, open_bench


class ThisMachine:
    """This machine. `results`: the folder for the runs; `command`: recorded in their manifests."""

    def __init__(self, results: Path, command: list[str]):
        self._results = results
        self._command = command

    def describe(self) -> dict[str, Any]:
        """The machine as it was at the first call."""
        return self._machine

    def open(self, target: Variant) -> AbstractContextManager[Bench]:
        """Open a bench; StackcostError without root."""
        return open_bench(target, self._results, self._command)

    @cached_property
    def _machine(self) -> dict[str, Any]:
        return describe_machine()
