"""Samples as one long Parquet table: a row for each value, the same columns for every metric."""

from itertools import pairwise, starmap
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from stackcost.contracts.sample import Kind, Sample
from stackcost.contracts.trial import Trial

SCHEMA = pa.schema(
    [
        pa.field("run", pa.string(), nullable=False),
        pa.field("trial", pa.int32(), nullable=False),
        pa.field("server", pa.string(), nullable=False),
        pa.field("phase", pa.string()),
        pa.field("time", pa.float64(), nullable=False),
        pa.field("metric", pa.string(), nullable=False),
        pa.field("labels", pa.map_(pa.string(), pa.string()), nullable=False),
        pa.field("value", pa.float64()),
        pa.field("unit", pa.string(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("source", pa.string(), nullable=False),
        pa.field("reason", pa.string(), nullable=False),
    ]
)
OF_A_SAMPLE = ("time", "metric", "labels", "value", "unit", "kind", "source", "reason")
LONGEST_REASON = 200  # characters
KINDS = {str(kind): kind for kind in Kind}


def encode(run: str, trial: Trial) -> bytes:
    """A Parquet file with the trial's samples; outside of all phases `phase` is null."""
    samples = trial.samples
    columns = {
        "run": [run] * len(samples),
        "trial": [trial.number] * len(samples),
        "server": [trial.server] * len(samples),
        "phase": [_phase(trial, sample.time) for sample in samples],
        "time": [sample.time for sample in samples],
        "metric": [sample.metric for sample in samples],
        "labels": [list(sample.labels.items()) for sample in samples],
        "value": [sample.value for sample in samples],
        "unit": [sample.unit for sample in samples],
        "kind": [str(sample.kind) for sample in samples],
        "source": [sample.source for sample in samples],
        "reason": [sample.reason for sample in samples],
    }
    buffer = pa.BufferOutputStream()
    pq.write_table(pa.table(columns, schema=SCHEMA), buffer, compression="zstd")
    return bytes(buffer.getvalue())


def decode(content: bytes) -> list[Sample]:
    """The samples of a file, as they were recorded; ValueError says why there are none."""
    if not content:
        raise ValueError("it is empty")
    try:
        table = pq.ParquetFile(pa.BufferReader(content)).read(columns=list(OF_A_SAMPLE))
        columns: dict[str, list[Any]] = {
            name: _maps(table.column(name)) if name == "labels" else table.column(name).to_pylist()
            for name in OF_A_SAMPLE
        }
        columns["kind"] = [KINDS[kind] for kind in columns["kind"]]
        return list(starmap(Sample, zip(*columns.values(), strict=True)))
    except Exception as error:  # a file that anybody wrote can be wrong in any way
        said = " ".join(str(error).split())[:LONGEST_REASON]
        raise ValueError(f"{type(error).__name__}: {said}") from error


def is_whole(content: bytes) -> bool:
    """Whether it is a Parquet file at all, so that a query can name its columns."""
    try:
        return pq.ParquetFile(pa.BufferReader(content)).schema_arrow.names == SCHEMA.names
    except Exception:  # as in `decode`
        return False


def _maps(column: pa.ChunkedArray) -> list[dict[str, str]]:
    """By whole arrays: pyarrow's own way to dicts takes most of the time of reading a run."""
    maps: list[dict[str, str]] = []
    for chunk in column.chunks:
        keys, items = chunk.keys.to_pylist(), chunk.items.to_pylist()
        edges = chunk.offsets.to_pylist()
        maps += [dict(zip(keys[a:b], items[a:b], strict=True)) for a, b in pairwise(edges)]
    return maps


def _phase(trial: Trial, time: float) -> str | None:
    for name, window in trial.phases.items():
        if window.start <= time <= window.end:
            return name
    return None
