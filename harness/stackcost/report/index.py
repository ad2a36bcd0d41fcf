"""An index of the runs in a folder, so that thousands of them are listed without reading each.

It is two Parquet tables in the user's cache folder: a row for each run, and a row for each figure
of their stored answers. A row counts only as long as the run's files have the size, the moment of
writing and the moment of change that they had when they were read. So the folder decides, the index
may be deleted at any time, and one that is damaged or of another version is made again.
"""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.json
import pyarrow.parquet as pq

from stackcost.contracts.errors import StackcostError
from stackcost.host.files import make_folder, read_whole, write_whole
from stackcost.host.user_cache import user_cache
from stackcost.report.basis import program_digest
from stackcost.report.progress import say
from stackcost.store.folder import MANIFEST, SUMMARY, TRIALS

FILES = (MANIFEST, TRIALS, SUMMARY)  # those that a row is made of; a run has the first one
# `files`: their state when they were read. `trials`: null if the run cannot be read. `machine`: a
# key of its processors. `answer`: "current", "older" (of another version of the program, or of
# other trials), or empty if none is stored.
RUNS = pa.schema(
    [
        *(pa.field(name, pa.string()) for name in ("run", "files", "state", "started")),
        pa.field("trials", pa.int64()),
        *(pa.field(name, pa.string()) for name in ("title", "machine", "answer")),
    ]
)
# `at`: connections/s; null for a figure without a load. `values`: of the rounds.
FIGURES = pa.schema(
    [
        *(pa.field(name, pa.string()) for name in ("run", "system", "figure", "unit")),
        pa.field("at", pa.float64()),
        pa.field("values", pa.list_(pa.float64())),
    ]
)
Row: TypeAlias = dict[str, Any]
LEAST = 30  # runs from which on an index is stored; fewer are read in no time
SLOW = 500  # runs to read from which on that is told
VERSION = b"stackcost-index"


@dataclass(frozen=True, slots=True)
class Index:
    """All runs of a folder: tables with the columns `RUNS` and `FIGURES`, by the runs' names.

    `read`: names of the runs that had to be read, because they are new or have changed.
    """

    runs: pa.Table
    figures: pa.Table
    read: Sequence[str]


def index_of(results: Path) -> Index:
    """The index of a folder of runs, after it was brought up to date.

    StackcostError if there is no such folder.
    """
    if not results.is_dir():
        raise StackcostError(f"there is no folder {results}", "stackcost run creates one")
    program = program_digest()
    version = program.hex().encode() + b" " + os.fsencode(results.resolve())
    stored = [_read(path, schema, version) for path, schema in _files(results)]
    known: dict[str, str] = {}
    if None not in stored:
        of_runs = stored[0].select(["run", "files"]).to_pydict()
        known = dict(zip(of_runs["run"], of_runs["files"], strict=True))
    there = {_text(name): (name, files) for name, files in _states(results)}
    changed = [name for name, (_, files) in there.items() if known.get(name) != files]
    kept = set(known) & set(there) - set(changed)
    if len(changed) >= SLOW:
        say(f"reading {len(changed):,} runs that are new in {results}, or have changed")
    added = _rows([(results / there[name][0], name, there[name][1]) for name in changed], program)
    tables = [
        _joined(old if known else None, schema, kept, len(kept) < len(known), new)
        for old, (_, schema), new in zip(stored, _files(results), added, strict=True)
    ]
    if len(there) >= LEAST and (changed or len(kept) < len(known) or None in stored):
        for table, (path, _) in zip(tables, _files(results), strict=True):
            _write(path, table, version)
    return Index(tables[0], tables[1], changed)


def _rows(changed: Sequence[tuple[Path, str, str]], program: bytes) -> tuple[list[Row], list[Row]]:
    """New rows for both tables; of each run: its folder, its name, and the state of its files."""
    if not changed:
        return [], []
    from stackcost.report.index_rows import rows_of  # it takes longer than to list all runs

    found = [rows_of(folder, name, files, program) for folder, name, files in changed]
    return [run for run, _ in found], [row for _, rows in found for row in rows]


def _states(results: Path) -> Iterator[tuple[str, str]]:
    """The name of each run's folder in order, and the state of its files."""
    with os.scandir(results) as entries:
        names = sorted(entry.name for entry in entries)
    root = str(results)
    for name in names:
        states = [_state(f"{root}/{name}/{file}") for file in FILES]
        if states[0]:
            yield name, " ".join(states)


def _state(path: str) -> str:
    """The state of a file; empty if there is none."""
    try:
        stat = os.lstat(path)
    except OSError:
        return ""
    return f"{stat.st_size}:{stat.st_mtime_ns}:{stat.st_ctime_ns}"


def _text(name: str) -> str:
    """A file's name as text that can be stored, whatever its bytes are."""
    return os.fsencode(name).decode(errors="backslashreplace")


def _joined(
    old: pa.Table | None, schema: pa.Schema, kept: set[str], fewer: bool, new: Sequence[Row]
) -> pa.Table:
    """The rows of the runs that are `kept`, and new rows; in order of the runs' names."""
    if old is not None and fewer:
        remains = [name in kept for name in old.column("run").to_pylist()]
        old = old.filter(pa.array(remains, pa.bool_()))  # of an empty list it cannot tell the type
    if old is not None and not new:
        return old
    added = _table(new, schema)
    return added if old is None else pa.concat_tables([old, added]).sort_by("run")


def _table(rows: Sequence[Row], schema: pa.Schema) -> pa.Table:
    """By JSON: pyarrow imports pandas to make a table of Python's values, which takes a second."""
    if not rows:
        return pa.Table.from_batches([], schema)
    lines = "\n".join(json.dumps({name: row[name] for name in schema.names}) for row in rows)
    options = pyarrow.json.ParseOptions(explicit_schema=schema)
    # A block has to have room for the longest line.
    read = pyarrow.json.ReadOptions(block_size=max(1 << 20, len(lines) + 1))
    return pyarrow.json.read_json(pa.BufferReader(lines.encode()), read, options)


def _files(results: Path) -> list[tuple[Path, pa.Schema]]:
    folder = user_cache("index", os.fsencode(results.resolve()))
    return [(folder / "runs.parquet", RUNS), (folder / "figures.parquet", FIGURES)]


def _read(path: Path, schema: pa.Schema, version: bytes) -> Any:
    """A stored table; None if there is none of this version and this folder, or it is damaged."""
    try:
        table = pq.ParquetFile(pa.BufferReader(read_whole(path))).read()
        if (table.schema.metadata or {}).get(VERSION) != version:
            return None
        table = table.replace_schema_metadata(None)
        table.validate(full=True)
        return table if table.schema.equals(schema) else None
    except Exception:  # a damaged file can be wrong in any way
        return None


def _write(path: Path, table: pa.Table, version: bytes) -> None:
    """Where nothing can be stored, the next command reads the runs again."""
    buffer = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata({VERSION: version}), buffer, compression="zstd")
    try:
        if not path.parent.is_dir():
            make_folder(path.parent)
        write_whole(path, bytes(buffer.getvalue()))
    except (OSError, StackcostError):
        return
