"""The folder of one run, written as the run goes, so that a killed run leaves what it had.

    results/20260101T120000Z-compare/
        manifest.json         what was run, where and when
        trials.jsonl          a line for each finished trial, without its samples
        samples/0001.parquet  the samples of trial 1
        summary.json          the answer; only when the run came that far
        reserve               some bytes of disk, kept while the run goes

Every file appears whole or not at all.
"""

import dataclasses
import itertools
import json
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel, TypeAdapter

from harness.errors import StackcostError
from harness.files import write_whole
from harness.model import Trial
from harness.store import sample_table
from harness.store.manifest import Manifest

if TYPE_CHECKING:
    import pandas

RESERVE, RESERVED_BYTES = "reserve", 512 << 10  # a manifest of a large matrix is half of that
MANIFEST, SUMMARY, TRIALS, SAMPLES = "manifest.json", "summary.json", "trials.jsonl", "samples"
_TRIAL = TypeAdapter(Trial)


class RunFolder:
    """Results of one run; `create` makes a new one, `open` finds a stored one."""

    def __init__(self, path: Path):
        self.path = path

    @classmethod
    def create(cls, results_root: Path, name: str) -> Self:
        """A new folder `<UTC time>-<name>` under `results_root`, which is made when missing."""
        stem = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{name}"
        for path in (results_root / f"{stem}{end}" for end in _endings()):
            try:
                (path / SAMPLES).mkdir(parents=True)
            except FileExistsError:  # started in the same second as another
                continue
            except OSError as error:
                raise StackcostError(
                    f"cannot make the results folder {path}: {error.strerror}",
                    "name another with --results FOLDER",
                ) from error
            run = cls(path)
            run.reserve()
            return run
        raise AssertionError("the endings do not end")

    @classmethod
    def open(cls, path: Path) -> Self:
        """A stored run, finished or not."""
        if not (path / MANIFEST).is_file():
            raise StackcostError(
                f"{path} is not a run's folder: it has no {MANIFEST}",
                f"list the runs: ls {path.parent}",
            )
        return cls(path)

    @property
    def name(self) -> str:
        """What the run is called everywhere: the folder's name."""
        return self.path.name

    def reserve(self) -> None:
        """Keep some disk, so that a run that fills it can still say so in its manifest."""
        self._write(RESERVE, bytes(RESERVED_BYTES))

    def give_back_reserve(self) -> None:
        """At the end of a run, or when its disk is full."""
        (self.path / RESERVE).unlink(missing_ok=True)

    def write_manifest(self, manifest: Manifest) -> None:
        """Write or replace the manifest."""
        self._write(MANIFEST, manifest.model_dump_json(indent=2).encode())

    def manifest(self) -> Manifest:
        """The manifest as last written."""
        return Manifest.model_validate_json((self.path / MANIFEST).read_bytes())

    def add_trial(self, trial: Trial) -> None:
        """Store a trial; its samples first, so that a trial which is listed is there whole."""
        self._write(_samples_name(trial.number), sample_table.encode(self.name, trial))
        record = dataclasses.asdict(dataclasses.replace(trial, samples=[]))
        del record["samples"]
        self._write(TRIALS, self._trial_lines() + json.dumps(record).encode() + b"\n")

    def set_aside(self, numbers: Collection[int], reason: str) -> None:
        """Mark stored trials as being in no figure; their samples stay."""
        records = [json.loads(line) for line in self._trial_lines().splitlines()]
        for record in records:
            if record["number"] in numbers and not record.get("set_aside"):
                record["set_aside"] = reason
        lines = "".join(json.dumps(record) + "\n" for record in records)
        self._write(TRIALS, lines.encode())

    def count(self) -> int:
        """Number of stored trials."""
        return len(self._trial_lines().splitlines())

    def trials(self) -> list[Trial]:
        """All stored trials in order, with their samples."""
        trials = [_TRIAL.validate_json(line) for line in self._trial_lines().splitlines()]
        for trial in trials:
            trial.samples = sample_table.decode(self.path / _samples_name(trial.number))
        return trials

    def stored_files(self) -> list[Path]:
        """All files that an answer is computed from, in order."""
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
            raise StackcostError(f"{self.path} has no {SUMMARY}: the run did not come that far")
        return dict(json.loads(path.read_bytes()))

    def query(self, sql: str) -> "pandas.DataFrame":
        """Rows of a DuckDB query over the view `samples`, such as

        select avg(value) from samples where metric = 'process.rss' and labels['role'] = 'master'.
        """
        if not any((self.path / SAMPLES).glob("*.parquet")):
            raise StackcostError(f"{self.path} has no samples: no trial was finished")
        import duckdb  # takes a second, and hardly any command queries

        with duckdb.connect() as database:
            parts = str(self.path / SAMPLES / "*.parquet").replace("'", "''")
            database.execute(f"create view samples as from read_parquet('{parts}')")
            return database.execute(sql).df()

    def _trial_lines(self) -> bytes:
        path = self.path / TRIALS
        return path.read_bytes() if path.exists() else b""

    def _write(self, name: str, content: bytes) -> None:
        write_whole(self.path / name, content)


def _endings() -> itertools.chain[str]:
    return itertools.chain([""], (f"-{number}" for number in itertools.count(2)))


def _samples_name(number: int) -> str:
    return f"{SAMPLES}/{number:04}.parquet"
