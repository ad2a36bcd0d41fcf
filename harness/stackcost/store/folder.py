"""The folder of one run. It is written during the run, so that a killed run keeps its data.

    results/20260101T120000Z-compare/
        manifest.json         what was run, where and when
        trials.jsonl          a line for each finished trial, without its samples
        samples/0001.parquet  the samples of trial 1
        summary.json          the answer; only when the run came that far
        reserve               some bytes of disk, kept while the run goes

Every file appears whole or not at all, and is on the disk when the call that writes it returns.
A file may be damaged or written by anyone: the damage is reported, and the rest is read.
"""

import fcntl
import itertools
import os
import shutil
import weakref
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import Any, Self

from pydantic import BaseModel

from stackcost.contracts.errors import StackcostError
from stackcost.contracts.sample import Sample
from stackcost.contracts.trial import Trial
from stackcost.host.files import make_folder, read_whole, write_whole
from stackcost.store import trial_lines
from stackcost.store.manifest import Manifest
from stackcost.store.reading import read_object

RESERVE, RESERVED_BYTES = "reserve", 512 << 10  # a manifest of a large matrix is half of that
MANIFEST, SUMMARY, TRIALS, SAMPLES = "manifest.json", "summary.json", "trials.jsonl", "samples"
OTHER_PLACE = "choose another folder: --results FOLDER"


@dataclass(frozen=True, slots=True)
class StoredTrials:
    """All trials of a run in order. `damaged`: describes the parts that cannot be read.

    A trial whose samples cannot be read is returned without them, and marked with the reason.
    """

    trials: list[Trial]
    damaged: list[str]


class RunFolder:
    """Results of one run; `create` makes a new one, `open` finds a stored one."""

    def __init__(self, path: Path):
        self.path = path
        self._unlock: weakref.finalize | None = None  # only while it is measured here

    @staticmethod
    def check_place(results_root: Path) -> None:
        """StackcostError unless a run can have a folder under `results_root`; makes nothing."""
        there = results_root.absolute()
        while not there.exists():
            there = there.parent
        if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
            why = "cannot be written" if there.is_dir() else "is not a folder"
            raise StackcostError(
                f"cannot make a folder in {results_root}: {there} {why}", OTHER_PLACE
            )

    @classmethod
    def create(cls, results_root: Path, name: str) -> Self:
        """A new folder `<UTC time>-<name>` under `results_root`, which is made when missing."""
        stem = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{name}"
        for path in (results_root / f"{stem}{end}" for end in _endings()):
            try:
                make_folder(path)
                make_folder(path / SAMPLES)
            except FileExistsError:  # started in the same second as another
                continue
            except OSError as error:
                raise StackcostError(
                    f"cannot make the results folder {path}: {error.strerror}",
                    OTHER_PLACE,
                ) from error
            run = cls(path)
            try:
                run.reserve()
            except StackcostError:  # the disk is too small for any run
                run.give_back_reserve()
                shutil.rmtree(path)
                raise
            return run
        raise AssertionError("the endings do not end")

    @classmethod
    def open(cls, path: Path) -> Self:
        """A stored run, finished or not."""
        if (path / MANIFEST).is_file():
            return cls(path)
        if runs := sorted(path.glob(f"*/{MANIFEST}")):
            raise StackcostError(
                f"{path} is not a run's folder, but one of runs; the latest is {runs[-1].parent}",
                f"to list the runs: stackcost ls {quote(str(path))}",
            )
        there = path.parent if path.parent.is_dir() else Path("results")
        lacks = f"it has no {MANIFEST}" if path.exists() else "it does not exist"
        raise StackcostError(
            f"{path} is not a run's folder: {lacks}",
            f"to list the runs: stackcost ls {quote(str(there))}",
        )

    @property
    def name(self) -> str:
        """The name of the run, which is the folder's name."""
        return self.path.name

    def reserve(self) -> None:
        """Reserve some disk space, so that the manifest can be written even if the disk is full.

        The run is also locked as one that goes on: see `goes_on`.
        """
        if self._unlock is None:
            folder = os.open(self.path, os.O_RDONLY)
            self._unlock = weakref.finalize(self, os.close, folder)
            with suppress(OSError):  # a file system without locks, or somebody else measures it
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._write(RESERVE, bytes(RESERVED_BYTES))

    def goes_on(self) -> bool:
        """Whether a process of this machine measures it now. The kernel ends a process's lock with
        it, so a run that was killed does not go on, whatever its manifest says.
        """
        try:
            folder = os.open(self.path, os.O_RDONLY)
        except OSError:
            return False
        try:
            fcntl.flock(folder, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(folder)
        return False

    def give_back_reserve(self) -> None:
        """At the end of a run, or when its disk is full."""
        (self.path / RESERVE).unlink(missing_ok=True)
        if self._unlock is not None:
            self._unlock()
            self._unlock = None

    def write_manifest(self, manifest: Manifest) -> None:
        """Write or replace the manifest."""
        self._write(MANIFEST, manifest.model_dump_json(indent=2).encode())

    def manifest(self) -> Manifest:
        """The manifest as last written; StackcostError when it cannot be read."""
        return Manifest.read(self.path / MANIFEST)

    def add_trial(self, trial: Trial) -> None:
        """Store a trial; its samples first, so that a listed trial is complete."""
        from stackcost.store import sample_table  # pyarrow takes longer than all of `stackcost ls`

        self._write(_samples_name(trial.number), sample_table.encode(self.name, trial))
        self._write_lines([*self._lines(), trial_lines.encode(trial)])

    def set_aside(self, numbers: Collection[int], reason: str) -> None:
        """Mark stored trials as not used; their samples stay."""
        self._write_lines([trial_lines.set_aside(line, numbers, reason) for line in self._lines()])

    def count(self) -> int:
        """Number of stored trials, without those with a damaged line."""
        return sum(trial_lines.is_whole(line) for line in self._lines())

    def next_number(self) -> int:
        """The number after those of all trials that were stored, damaged ones included."""
        names = [path.stem for path in (self.path / SAMPLES).glob("*.parquet")]
        return 1 + max((int(name) for name in names if name.isdecimal()), default=0)

    def trials(self, numbers: Collection[int] | None = None) -> list[Trial]:
        """Stored trials in order, with their samples: those of some numbers, by default all."""
        return self.stored(numbers).trials

    def stored(self, numbers: Collection[int] | None = None) -> StoredTrials:
        """The stored trials, and the damaged parts."""
        found = StoredTrials([], [])
        for number, line in enumerate(self._lines(), 1):
            try:
                trial = trial_lines.decode(line)
            except ValueError as error:
                found.damaged.append(f"line {number} of {TRIALS}: {error}")
                continue
            if numbers is not None and trial.number not in numbers:
                continue
            try:
                trial.samples = self._samples(trial.number)
            except ValueError as error:
                trial.set_aside = f"damaged: {error}"
                found.damaged.append(f"trial {trial.number}: {error}")
            found.trials.append(trial)
        return found

    def stored_files(self) -> list[Path]:
        """All files from which the results are computed, in order."""
        samples = sorted((self.path / SAMPLES).glob("*.parquet"))
        named = [self.path / name for name in (MANIFEST, TRIALS)]
        return [path for path in (*named, *samples) if path.is_file()]

    def write_summary(self, summary: BaseModel) -> None:
        """Write or replace the summary."""
        self._write(SUMMARY, summary.model_dump_json(indent=2).encode())

    def summary(self) -> dict[str, Any]:
        """The summary as JSON values."""
        path = self.path / SUMMARY
        if not path.is_file():
            raise StackcostError(
                f"{self.path} has no {SUMMARY}: the run ended before it was written",
                f"to compute it from the trials: stackcost report {quote(str(self.path))}",
            )
        try:
            return read_object(path)
        except StackcostError as error:
            again = f"to compute it again: stackcost report {quote(str(self.path))}"
            raise StackcostError(error.what, again) from error

    def _samples(self, number: int) -> list[Sample]:
        """ValueError when they cannot be read."""
        from stackcost.store import sample_table

        name = _samples_name(number)
        try:
            return sample_table.decode(read_whole(self.path / name))
        except OSError as error:
            raise ValueError(f"{name} cannot be read: {error.strerror}") from error
        except ValueError as error:
            raise ValueError(f"{name} cannot be read: {error}") from error

    def _lines(self) -> list[bytes]:
        """Lines of the trials; a last one that was cut, too."""
        path = self.path / TRIALS
        try:
            return read_whole(path).splitlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StackcostError(f"cannot read {path}: {error.strerror}") from error

    def _write_lines(self, lines: Collection[bytes]) -> None:
        self._write(TRIALS, b"".join(line + b"\n" for line in lines))

    def _write(self, name: str, content: bytes) -> None:
        write_whole(self.path / name, content)


def _endings() -> itertools.chain[str]:
    return itertools.chain([""], (f"-{number}" for number in itertools.count(2)))


def _samples_name(number: int) -> str:
    return f"{SAMPLES}/{number:04}.parquet"
