"""Samples as one long Parquet table: a row for each value, the same columns for every metric."""

from itertools import starmap
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
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
Numbers = npt.NDArray[np.int32]


class Coded(NamedTuple):
    """A dictionary-encoded column of text: the number of the word in each row."""

    words: npt.NDArray[np.object_]
    numbers: Numbers


def encode(run: str, trial: Trial) -> bytes:
    """A Parquet file with the trial's samples; outside of all phases `phase` is null."""
    samples = trial.samples
    columns: dict[str, list[Any]] = {
        "run": [run] * len(samples),
        "trial": [trial.number] * len(samples),
        "server": [trial.server] * len(samples),
        "phase": [_phase(trial, sample.time) for sample in samples],
        **{name: [getattr(sample, name) for sample in samples] for name in OF_A_SAMPLE},
        "labels": [list(sample.labels.items()) for sample in samples],
    }
    buffer = pa.BufferOutputStream()
    pq.write_table(pa.table(columns, schema=SCHEMA), buffer, compression="zstd")
    return bytes(buffer.getvalue())


def decode(content: bytes) -> list[Sample]:
    """The samples of a file, as they were recorded; ValueError says why there are none.

    Samples with the same labels share one dict of them: a trial reads each series many times.
    """
    if not content:
        raise ValueError("it is empty")
    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        table = file.read(columns=list(OF_A_SAMPLE)).combine_chunks()
        for name in OF_A_SAMPLE:
            wanted, found = SCHEMA.field(name).type, table.schema.field(name).type
            if found != wanted:
                raise ValueError(f"its column {name!r} is {found} in place of {wanted}")
        columns: dict[str, list[Any]] = {
            name: (_maps if name == "labels" else _values)(table.column(name))
            for name in OF_A_SAMPLE
        }
        columns["kind"] = [KINDS[kind] for kind in columns["kind"]]
        return list(starmap(Sample, zip(*columns.values(), strict=True)))
    except Exception as error:  # a file that anybody wrote can be wrong in any way
        said = " ".join(str(error).split())[:LONGEST_REASON]
        raise ValueError(f"{type(error).__name__}: {said}") from error


def _values(column: pa.ChunkedArray) -> list[Any]:
    """Text by a dictionary: a few different words stand in many rows."""
    if not pa.types.is_string(column.type):
        return column.to_pylist()  # type: ignore[no-any-return]
    coded = [_codes(chunk) for chunk in column.chunks]
    return [word for part in coded for word in part.words[part.numbers].tolist()]


def _codes(array: pa.Array) -> Coded:
    coded = array.dictionary_encode()
    words = np.array(coded.dictionary.to_pylist(), dtype=object)
    return Coded(words, coded.indices.to_numpy())


def _maps(column: pa.ChunkedArray) -> list[dict[str, str]]:
    """By whole arrays: pyarrow's own way to dicts takes most of the time of reading a run."""
    maps: list[dict[str, str]] = []
    for chunk in column.chunks:
        maps += _maps_of(chunk.offsets.to_numpy(), _codes(chunk.keys), _codes(chunk.items))
    return maps


def _maps_of(offsets: Numbers, keys: Coded, items: Coded) -> list[dict[str, str]]:
    """The map of each row: from `offsets[row]` on its keys and items, each as a word's number."""
    sizes = np.diff(offsets)
    maps: list[dict[str, str]] = [{}] * len(sizes)
    for size in np.unique(sizes):
        rows = np.flatnonzero(sizes == size)
        places = offsets[rows, None] + np.arange(size)
        first, which = np.zeros(1, dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
        for column in (*keys.numbers[places].T, *items.numbers[places].T):
            together = which * (len(keys.words) + len(items.words)) + column
            _, first, which = np.unique(together, return_index=True, return_inverse=True)
        known = [
            {
                keys.words[keys.numbers[place]]: items.words[items.numbers[place]]
                for place in places[row].tolist()
            }
            for row in first.tolist()
        ]
        for row, number in zip(rows.tolist(), which.tolist(), strict=True):
            maps[row] = known[number]
    return maps


def _phase(trial: Trial, time: float) -> str | None:
    for name, window in trial.phases.items():
        if window.start <= time <= window.end:
            return name
    return None
