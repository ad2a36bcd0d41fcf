"""What the gate measures: a system of an experiment file, on this machine."""

from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import Any

from stackcost.collect.machine import describe_machine
from stackcost.contracts.errors import StackcostError
from stackcost.experiment.matrix import Variant, variants
from stackcost.experiment.read_file import read_experiment
from stackcost.gate.bench import Bench, LocalBench, open_bench
from stackcost.gate.figure import CEILING, Figure
from stackcost.gate.search_bench import SearchBench, plan_of


def target_of(path: Path, system: str = "") -> Variant:
    """The system with this name, or the only system; otherwise StackcostError with all names."""
    found = variants(read_experiment(path))
    names = ", ".join(each.name for each in found)
    wanted = [each for each in found if system in ("", each.name)]
    if len(wanted) != 1:
        what = f"has no system {system!r}" if system else f"has {len(found)} systems"
        raise StackcostError(
            f"{path} {what}", f'name one of them: cps_ceiling(file, system="..."): {names}'
        )
    if wanted[0].lacking:
        raise StackcostError(
            f"{wanted[0].name} cannot be measured on this machine: {wanted[0].lacking}"
        )
    return wanted[0]


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
        planned = target.experiment.model_dump(mode="json") | {"gate": figure}
        return open_bench(target, self._results, self._command, LocalBench, planned)

    @cached_property
    def _machine(self) -> dict[str, Any]:
        return describe_machine()
