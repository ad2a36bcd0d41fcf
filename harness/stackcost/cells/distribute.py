"""Spreads the cells of a set over beds by dask.distributed.

Each bed is a worker of dask in this process, with one resource that a cell holds while it is
measured. Nothing of dask runs on the hosts of the beds: a cell's own process reaches them by SSH,
as any run does. dask's scheduler and workers speak within this process.
"""

import json
import logging
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dask
from distributed import Client, Scheduler, SpecCluster, Worker, as_completed, get_worker

from stackcost.cells.beds import lasting_problems
from stackcost.cells.folder import CellRecord, SetFolder
from stackcost.cells.plan import Cell
from stackcost.experiment.read_file import on_bed
from stackcost.experiment.schema import Experiment
from stackcost.host.signals import ending_signals_raise
from stackcost.store import RunFolder

BED = "bed"  # the resource
ENOUGH = 2  # beds on which a cell fails before it is reported as failed
LOOPBACK = "127.0.0.1"
_ending = threading.Event()  # no cell begins any more
_aside: dict[str, str] = {}  # why a bed is not used any more, or empty; of the beds that were used
_running: dict[str, "subprocess.Popen[bytes]"] = {}  # processes of cells by bed


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a cell on a bed. `run`: where it was placed; None with the failure.

    `aside`: why the bed is not used any more, or empty. `begun`: whether the bed was used.
    """

    cell: Cell
    bed: str
    seconds: float = 0.0
    run: Path | None = None
    failure: str = ""
    aside: str = ""
    begun: bool = True


def distribute(
    cells: Sequence[Cell],
    beds: Mapping[str, Experiment],
    folder: SetFolder,
    say: Callable[[str], None],
    dashboard: int | None = None,
) -> dict[str, str]:
    """Measure the cells once each; returns why others were not measured, by cell.

    The caller holds the lock of the set. `say`: shows what has happened. `dashboard`: the port of
    dask's pages on 127.0.0.1. A cell that fails on a bed is measured on another one. A bed that
    fails gets no further cell.
    """
    failed: dict[str, dict[str, str]] = {cell.name: {} for cell in cells}
    lost: dict[str, str] = {}
    left = list(beds)
    with _cluster(beds, dashboard) as client:

        def submit(cell: Cell) -> list[Any]:
            there = [bed for bed in left if bed not in failed[cell.name]]
            if not there or len(failed[cell.name]) >= ENOUGH:
                told = [f"on {bed}: {why}" for bed, why in failed[cell.name].items()]
                lost[cell.name] = "; ".join(told) or "no bed is left"
                return []
            return [
                client.submit(
                    _measure, cell, beds, folder, pure=False, resources={BED: 1}, workers=there
                )
            ]

        coming = as_completed([future for cell in cells for future in submit(cell)])
        for future in coming:
            outcome: Outcome = future.result()
            if outcome.aside and outcome.bed in left:
                left.remove(outcome.bed)
                say(f"bed {outcome.bed} is set aside: {outcome.aside}")
            if outcome.run:
                where = f"{outcome.cell.name} on {outcome.bed}"
                say(f"{where}: measured in {outcome.seconds:.0f} s: {outcome.run}")
                continue
            if outcome.begun:
                failed[outcome.cell.name][outcome.bed] = outcome.failure
                say(f"{outcome.cell.name} on {outcome.bed}: failed: {outcome.failure}")
            for again in submit(outcome.cell):
                coming.add(again)
    return lost


@contextmanager
def _cluster(beds: Mapping[str, Experiment], dashboard: int | None) -> Iterator[Client]:
    """A scheduler, and a worker for each bed. On exit the processes of all cells have ended."""
    _ending.clear()
    _aside.clear()
    logging.getLogger("distributed").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="distributed")  # of a machine without other networks
    with tempfile.TemporaryDirectory(prefix="stackcost-") as temporary, ending_signals_raise():
        settings: dict[str, Any] = {"temporary-directory": temporary}
        settings["distributed.worker.http.routes"] = []
        if dashboard is None:
            settings["distributed.scheduler.http.routes"] = []
        common = {"protocol": "inproc", "dashboard": False, "dashboard_address": f"{LOOPBACK}:0"}
        usual = common | {"nthreads": 1, "resources": {BED: 1}, "memory_limit": 0}
        scheduler = common
        if dashboard is not None:
            scheduler = common | {"dashboard": True, "dashboard_address": f"{LOOPBACK}:{dashboard}"}
        with dask.config.set(settings):
            workers = {name: {"cls": Worker, "options": usual | {"name": name}} for name in beds}
            with (
                SpecCluster(workers, {"cls": Scheduler, "options": scheduler}) as cluster,
                Client(cluster) as client,
            ):
                try:
                    yield client
                finally:
                    _end_cells()


def _end_cells() -> None:
    """Let the processes of all cells undo what they have made, and end."""
    _ending.set()
    for process in list(_running.values()):
        process.send_signal(signal.SIGTERM)
    while _running:
        time.sleep(0.05)


def _measure(cell: Cell, beds: Mapping[str, Experiment], folder: SetFolder) -> Outcome:
    """Measure a cell on the bed of the worker that this runs on."""
    name = str(get_worker().name)
    if name not in _aside:  # its first cell
        _aside[name] = lasting_problems(beds[name], checks=1)
    if _aside[name] or _ending.is_set():
        return Outcome(cell, name, aside=_aside[name], begun=False)
    began = time.monotonic()
    plan, attempt = folder.begin(cell, on_bed(cell.experiment, beds[name]))
    status, said = _process(name, plan, attempt, folder.lock)
    seconds = time.monotonic() - began
    if status == 0 and said.get("state") == "complete":
        record = CellRecord(
            set=folder.name,
            cell=cell.name,
            bed=name,
            attempt=int(attempt.name),
            plan=cell.digest,
        )
        placed = folder.place(RunFolder.open(attempt / said["run"]), record)
        return Outcome(cell, name, seconds, placed)
    failure = said.get("what") or f"its process ended with status {status}, see {attempt / 'log'}"
    if status < 0 or said.get("state") == "interrupted":
        failure = _aside[name] = f"its controller was ended (status {status})"
    elif not _ending.is_set():
        _aside[name] = lasting_problems(beds[name])
    return Outcome(cell, name, seconds, failure=failure, aside=_aside[name])


def _process(bed: str, plan: Path, attempt: Path, lock: int) -> tuple[int, dict[str, str]]:
    """Run the process of a cell; returns its exit status and what it said at its end.

    It ends when this process does, and has its own session: Ctrl-C reaches it by `_end_cells`.
    """
    command = ["setpriv", "--pdeathsig", "TERM", "--", sys.executable, "-P", "-m"]
    command += ["stackcost.cells.measure", str(plan), str(attempt)]
    with (attempt / "log").open("wb") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            pass_fds=[lock],
            start_new_session=True,
        )
        _running[bed] = process
        try:
            if _ending.is_set():
                process.send_signal(signal.SIGTERM)
            printed, _ = process.communicate()
        finally:
            del _running[bed]
    lines = printed.decode(errors="replace").splitlines()
    try:
        said = dict(json.loads(lines[-1]))
    except (IndexError, ValueError):
        said = {}
    return process.returncode, said
