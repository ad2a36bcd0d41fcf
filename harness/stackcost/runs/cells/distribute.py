"""Spreads the cells of a set over beds by dask.distributed.

Each bed is a worker of dask, with one resource that a cell holds while it is measured. Nothing of
dask runs on the hosts of the beds: a cell's own process reaches them by SSH, as any run does.
"""

import uuid
from collections.abc import Callable, Sequence
from pathlib import Path

from distributed import Client, Future, KilledWorker, as_completed

from stackcost.runs.cells.beds import check_one_kind
from stackcost.runs.cells.folder import CellRecord, SetFolder
from stackcost.runs.cells.plan import Cell
from stackcost.runs.cells.worker import BED, Outcome, Task, bed_and_kind, end, measure, unpack
from stackcost.store import RunFolder

ENOUGH = 2  # beds on which a cell fails before it is reported as failed


def distribute(
    cells: Sequence[Cell],
    client: Client,
    folder: SetFolder,
    say: Callable[[str], None],
    elsewhere: bool = False,
) -> dict[str, str]:
    """Measure the cells once each; returns why others were not measured, by cell.

    The caller holds the lock of the set. `client`: of a cluster whose workers are beds. `say`:
    shows what has happened. `elsewhere`: workers have folders of their own. A cell that fails on a
    bed is measured on another one. A bed that fails gets no further cell. On exit the processes of
    all cells have ended.
    """
    if not client.scheduler_info()["workers"]:
        say("waiting for a bed: stackcost worker BED --scheduler ADDRESS")
        client.wait_for_workers(1)
    kind = check_one_kind(_beds(client))
    start = uuid.uuid4().hex
    cell_by_future: dict[Future, Cell] = {}
    failed: dict[str, dict[str, str]] = {cell.name: {} for cell in cells}
    lost: dict[str, str] = {}
    aside: set[str] = set()

    def submit(cell: Cell) -> list[Future]:
        task = Task(cell, cell.digest, kind, start, None if elsewhere else folder)
        there: list[str] | None = None  # all beds, also those that join the cluster later
        if aside or failed[cell.name]:
            there = sorted(set(_beds(client)) - aside - set(failed[cell.name]))
            if not there or len(failed[cell.name]) >= ENOUGH:
                each = [f"on {bed}: {why}" for bed, why in failed[cell.name].items()]
                lost[cell.name] = "; ".join(each) or "no bed is left"
                return []
        future = client.submit(measure, task, pure=False, resources={BED: 1}, workers=there)
        cell_by_future[future] = cell
        return [future]

    try:
        coming = as_completed([future for cell in cells for future in submit(cell)])
        for future in coming:
            try:
                outcome: Outcome = future.result()
            except KilledWorker:
                lost[cell_by_future[future].name] = "several beds ended while they measured it"
                continue
            if outcome.aside and outcome.bed not in aside:
                aside.add(outcome.bed)
                say(f"bed {outcome.bed} is set aside: {outcome.aside}")
            where = f"{outcome.cell.name} on {outcome.bed}"
            if outcome.run:
                placed = _place(outcome, folder)
                say(f"{where}: measured in {outcome.seconds:.0f} s: {placed}")
                continue
            if outcome.begun:
                failed[outcome.cell.name][outcome.bed] = outcome.failure
                log = _keep(outcome, folder) / "log"
                say(f"{where}: failed: {outcome.failure} (log: {log})")
            for again in submit(outcome.cell):
                coming.add(again)
    finally:
        client.run(end, start, on_error="ignore")
    return lost


def _beds(client: Client) -> dict[str, str]:
    """The kinds of the beds that the cluster has now, by bed."""
    return dict(client.run(bed_and_kind).values())


def _keep(outcome: Outcome, folder: SetFolder) -> Path:
    """The folder of an attempt, here; its files are written if it was measured elsewhere."""
    if isinstance(outcome.attempt, Path):
        return outcome.attempt
    _, attempt = folder.begin(outcome.cell, outcome.cell.experiment)
    unpack(outcome.attempt, attempt)
    return attempt


def _place(outcome: Outcome, folder: SetFolder) -> Path:
    """Move the run of a finished cell to the results; returns where it is."""
    attempt = _keep(outcome, folder)
    record = CellRecord(
        set=folder.name,
        cell=outcome.cell.name,
        bed=outcome.bed,
        attempt=int(attempt.name),
        plan=outcome.cell.digest,
    )
    return folder.place(RunFolder.open(attempt / outcome.run), record)
