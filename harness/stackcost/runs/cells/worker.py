"""A bed as a worker of dask: it measures one cell at a time, each in a process of its own."""

import asyncio
import json
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from distributed import Worker, WorkerPlugin, get_worker

from stackcost.experiment.read_file import on_bed
from stackcost.experiment.schema import Experiment
from stackcost.runs.cells.beds import kind_of, lasting_problems
from stackcost.runs.cells.folder import SetFolder
from stackcost.runs.cells.plan import Cell

BED = "bed"  # the resource that a cell holds while it is measured, and the plugin of a worker


@dataclass(frozen=True, slots=True)
class Task:
    """A cell to measure. `digest`: the cell's, where its set is. `kind`: of bed that it needs.

    `start`: of which start of `distribute` it is. `folder`: where it is measured; None in a
    cluster, where the bed's controller has a folder of its own.
    """

    cell: Cell
    digest: str
    kind: str
    start: str
    folder: SetFolder | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a cell on a bed.

    `attempt`: the folder in which it was measured, or its files as a tar archive. `run`: the name
    of its run there; empty with the failure. `aside`: why the bed is not used any more, or empty.
    `begun`: whether the bed was used.
    """

    cell: Cell
    bed: str
    seconds: float = 0.0
    attempt: Path | bytes = b""
    run: str = ""
    failure: str = ""
    aside: str = ""
    begun: bool = True


class Bed(WorkerPlugin):
    """The bed of a worker."""

    name = BED

    def __init__(self, name: str, experiment: Experiment):
        self.bed = name
        self.kind = kind_of(experiment)
        self._experiment = experiment
        self._aside: str | None = None  # why it is not used any more, or empty; None before use
        self._ended: set[str] = set()  # starts of which no cell begins any more
        self._process: subprocess.Popen[bytes] | None = None

    async def teardown(self, worker: Worker) -> None:
        """Let the process of a cell undo what it has made, and end."""
        await self.end("")

    async def end(self, start: str) -> None:
        """Do the same for the cell of a start of `distribute`; none of it begins any more."""
        self._ended.add(start)
        if self._process:
            self._process.send_signal(signal.SIGTERM)
        while self._process:
            await asyncio.sleep(0.05)

    def measure(self, task: Task) -> Outcome:
        """Measure a cell."""
        if self._aside is None:
            self._aside = lasting_problems(self._experiment, checks=1)
        aside = self._aside or _unfit(task, self.kind)
        if aside or task.start in self._ended:
            return Outcome(task.cell, self.bed, aside=aside, begun=False)
        if task.folder:
            return self._measure(task, task.folder)
        with tempfile.TemporaryDirectory(prefix="stackcost-") as temporary:
            outcome = self._measure(task, SetFolder(Path(temporary), "cell"))
        self._aside = None  # a bed of a cluster may be mended
        return outcome

    def _measure(self, task: Task, folder: SetFolder) -> Outcome:
        began = time.monotonic()
        plan, attempt = folder.begin(task.cell, on_bed(task.cell.experiment, self._experiment))
        status, said = self._run(task.start, plan, attempt, folder.lock)
        complete = status == 0 and said.get("state") == "complete"
        failure = ""
        if not complete:
            failure = said.get("what") or f"its process ended with status {status}"
            if status < 0 or said.get("state") == "interrupted":
                failure = self._aside = f"its controller was ended (status {status})"
            elif task.start not in self._ended:
                self._aside = lasting_problems(self._experiment)
        return Outcome(
            task.cell,
            self.bed,
            time.monotonic() - began,
            attempt if task.folder else _packed(attempt),
            said["run"] if complete else "",
            failure,
            self._aside or "",
        )

    def _run(self, start: str, plan: Path, attempt: Path, lock: int) -> tuple[int, dict[str, str]]:
        """Run the process of a cell; returns its exit status and what it said at its end.

        It ends when this process does, and has its own session: Ctrl-C reaches it by `end`.
        """
        command = ["setpriv", "--pdeathsig", "TERM", "--", sys.executable, "-P", "-m"]
        command += ["stackcost.runs.cells.measure", str(plan), str(attempt)]
        with (attempt / "log").open("wb") as log:
            self._process = process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                pass_fds=[] if lock < 0 else [lock],
                start_new_session=True,
            )
            try:
                if start in self._ended:
                    process.send_signal(signal.SIGTERM)
                printed, _ = process.communicate()
            finally:
                self._process = None
        lines = printed.decode(errors="replace").splitlines()
        try:
            said = dict(json.loads(lines[-1]))
        except (IndexError, ValueError):
            said = {}
        return process.returncode, said


def bed_and_kind(dask_worker: Any) -> tuple[str, str]:
    """The name of a worker's bed, and its kind."""
    bed: Bed = dask_worker.plugins[BED]
    return bed.bed, bed.kind


def measure(task: Task) -> Outcome:
    """Measure a cell on the bed of the worker that this runs on."""
    bed: Any = get_worker().plugins[BED]
    return bed.measure(task)


async def end(start: str, dask_worker: Any) -> None:
    """End the cell that a worker's bed measures for a start of `distribute`."""
    await dask_worker.plugins[BED].end(start)


def _unfit(task: Task, kind: str) -> str:
    """Why a bed cannot measure a cell whose set is elsewhere; empty if it can."""
    if kind != task.kind:
        return f"it has {kind}, and the set is measured on beds that have {task.kind}"
    if task.cell.digest == task.digest:
        return ""
    return f"its controller does not have the profiles of cell {task.cell.name} at the same paths"


def _packed(folder: Path) -> bytes:
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(folder, ".")
    return packed.getvalue()


def unpack(packed: bytes, folder: Path) -> None:
    """Write the files of an attempt that was measured elsewhere."""
    with tarfile.open(fileobj=BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
