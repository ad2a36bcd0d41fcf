"""This machine as the place where is measured."""

from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import Any

from stackcost.collect.machine import describe_machine
from stackcost.harness.experiment.matrix import Variant
from stackcost.harness.gate.bench import Bench, open_bench


class ThisMachine:
    """Runs go to `results`; `command` is for their manifests."""

    def __init__(self, results: Path, command: list[str]):
        self._results = results
        self._command = command

    def describe(self) -> dict[str, Any]:
        """As it is at the first call."""
        return self._machine

    def open(self, target: Variant) -> AbstractContextManager[Bench]:
        """A bench; StackcostError without root."""
        return open_bench(target, self._results, self._command)

    @cached_property
    def _machine(self) -> dict[str, Any]:
        return describe_machine()
