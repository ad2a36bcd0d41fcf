"""The cells of a set: experiments, and parts of those with a matrix.

A matrix is split by an axis only if no pair of systems that the experiment compares loses one of
its two: a comparison is always made by one run, on one bed. It is never split by stacks, because
their difference is what a matrix of them asks for.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.system import pairs
from stackcost.experiment.matrix import variants
from stackcost.experiment.matrix_section import Matrix
from stackcost.experiment.read_file import BED
from stackcost.experiment.schema import Experiment
from stackcost.runs.identity import profile_hashes


@dataclass(frozen=True, slots=True)
class Cell:
    """One run of a set. `experiment`: what is measured; each bed replaces its bed."""

    name: str
    experiment: Experiment

    @property
    def digest(self) -> str:
        """Of its plan and its profiles, whatever the bed."""
        plan = self.experiment.model_dump(mode="json", exclude={*BED})
        text = json.dumps([plan, profile_hashes(self.experiment)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def cells_of(experiments: Sequence[tuple[str, Experiment]]) -> list[Cell]:
    """All cells in order; each experiment has a name. StackcostError if two have the same one."""
    found = [cell for name, experiment in experiments for cell in _split(Cell(name, experiment))]
    names = [cell.name for cell in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise StackcostError(
            f"two cells have the same name: {', '.join(twice)}",
            "a cell has the name of its experiment's file; rename one of them",
        )
    return found


def _split(whole: Cell) -> list[Cell]:
    cells = [whole]
    for axis in (each for each in Matrix.model_fields if each != "stack"):
        apart = [part for cell in cells for part in _by_axis(cell, axis)]
        if _compared(apart) == _compared(cells):
            cells = apart
    return cells


def _by_axis(cell: Cell, axis: str) -> list[Cell]:
    matrix = cell.experiment.matrix
    values = getattr(matrix, axis)
    if len(values) < 2:
        return [cell]
    each = (matrix.model_copy(update={axis: [value]}) for value in values)
    return [
        Cell(
            f"{cell.name}-{_words(value)}",
            cell.experiment.model_copy(update={"matrix": one}),
        )
        for value, one in zip(values, each, strict=True)
    ]


def _words(value: object) -> str:
    """The value in the name of a folder; of a tuning tier's file its name."""
    return re.sub(r"[^\w.]+", "-", str(value).rpartition("/")[2].removesuffix(".yaml"))


def _compared(cells: Iterable[Cell]) -> set[tuple[str, str]]:
    """The pairs of systems that the cells compare."""
    return {
        pair
        for cell in cells
        for pair in pairs(
            [each.system for each in variants(cell.experiment)],
            cell.experiment.baseline,
            cell.experiment.against,
        )
    }
