"""The folder of a set while it is measured, and the runs of its finished cells.

results/20260101T120000Z-compare-1000/   a finished cell, as any other run
    cell.json                            its set, cell, bed and attempt
results/.unfinished/nightly/             the set: its lock
    compare-1000/                        a cell that is not finished
        compare-1000.json                its plan on the bed that has it now
        1/                               its first attempt: a log, and the run's folder
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pydantic import BaseModel, ValidationError

from stackcost.bed.lock import locked_file
from stackcost.contracts.errors import StackcostError
from stackcost.experiment.schema import Experiment
from stackcost.host.files import make_folder, read_whole, sync_folder, write_whole
from stackcost.runs.cells.plan import Cell
from stackcost.store import RunFolder

CELL, UNFINISHED = "cell.json", ".unfinished"


class CellRecord(BaseModel):
    """What is beside the manifest of a finished cell. `plan`: the digest of what was measured."""

    set: str
    cell: str
    bed: str
    attempt: int
    plan: str


class SetFolder:
    """The cells of one set in a folder of results."""

    def __init__(self, results: Path, name: str):
        self.results = results
        self.name = name
        self.path = results / UNFINISHED / name
        self.lock = -1

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Inside, no other process measures this set; nor do cells of a killed one go on.

        A cell's process gets the descriptor `lock`, and so has the lock, too.
        """
        if not self.path.is_dir():
            make_folder(self.path)
        taken = f"the set {self.name} is being measured"
        with locked_file(self.path / "lock", taken) as descriptor:
            self.lock = descriptor
            yield

    def finished(self) -> dict[str, CellRecord]:
        """The records of the cells that are measured, by cell."""
        found = {}
        for path in self.results.glob(f"*/{CELL}"):
            try:
                record = CellRecord.model_validate_json(read_whole(path))
            except (OSError, ValidationError):
                continue  # whoever wrote it, it is no cell of this set
            if record.set == self.name:
                found[record.cell] = record
        return found

    def missing(self, cells: Sequence[Cell]) -> list[Cell]:
        """The cells that are not measured. StackcostError if the set measured one otherwise."""
        finished, left = self.finished(), []
        for cell in cells:
            if cell.name not in finished:
                left.append(cell)
            elif finished[cell.name].plan == cell.digest:
                self.tidy(cell.name)
            else:
                raise StackcostError(
                    f"the set {self.name} has cell {cell.name} with another plan or profile",
                    "give the changed set another name: --name",
                )
        return left

    def begin(self, cell: Cell, experiment: Experiment) -> tuple[Path, Path]:
        """The file of a cell's plan on its bed, and a new folder for its next attempt."""
        folder = self.path / cell.name
        numbers = [int(each.name) for each in folder.glob("*") if each.name.isdecimal()]
        attempt = folder / str(max(numbers, default=0) + 1)
        make_folder(attempt)
        plan = folder / f"{cell.name}.json"
        write_whole(plan, experiment.model_dump_json().encode())
        return plan, attempt

    def place(self, run: RunFolder, record: CellRecord) -> Path:
        """Move the run of a finished cell to the results, and remove its other attempts."""
        write_whole(run.path / CELL, record.model_dump_json(indent=2).encode())
        placed = self.results / run.name
        try:
            os.rename(run.path, placed)
        except OSError as error:
            raise StackcostError(f"cannot move {run.path} to {placed}: {error.strerror}") from error
        sync_folder(self.results)
        self.tidy(record.cell)
        return placed

    def tidy(self, cell: str) -> None:
        """Remove what is left of a cell that is finished."""
        shutil.rmtree(self.path / cell, ignore_errors=True)
