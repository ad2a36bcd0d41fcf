"""A run for other programs: its figures as one long table, its latencies as histogram logs."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, Literal

import pandas
from hdrh.log import HistogramLogWriter

from stackcost.analysis.head import Head, definition
from stackcost.analysis.merged import Part, by_second
from stackcost.contracts.errors import StackcostError
from stackcost.host.files import write_whole
from stackcost.report.library.columns import FIGURES
from stackcost.report.library.rows import Row, rounds
from stackcost.report.results.computed import computed
from stackcost.store import RunFolder

US_PER_MS = 1000.0


def encode(run: RunFolder, form: Literal["csv", "parquet", "json"]) -> bytes:
    """The table in one of the formats; JSON is a list of objects with the columns as keys."""
    frame = table(computed(run))
    if form == "csv":
        return frame.to_csv(index=False).encode()
    if form == "parquet":
        return bytes(frame.to_parquet(index=False))
    rows = json.loads(frame.to_json(orient="records"))
    return (json.dumps(rows, indent=1) + "\n").encode()


def table(*summaries: Head) -> pandas.DataFrame:
    """A row for each value of each figure. An unknown figure has one row, with its reason.

    Of each load first how many connections or requests failed: the others are of the rest.
    """
    found: list[Row] = []
    for summary in summaries:
        for each in summary.system_figures():
            what = definition(each.figure, summary.definitions)
            head = each._asdict() | {
                "run": summary.run,
                "offered_cps": each.at,
                "unit": each.spread.unit,
                "definition": what.definition if what else "",
                "source": what.source if what else "",
            }
            found += ({**head, **last} for last in rounds(each.spread))
    kinds: dict[str, Any] = {"offered_cps": float, "round": "Int64", "value": float, "quoted": bool}
    return pandas.DataFrame(found, columns=list(FIGURES)).astype(kinds)


def write_logs(run: RunFolder, to: Path) -> Iterator[Path]:
    """A file for each system, load and kind of time in a folder, which is made if it is missing.

    StackcostError if the run has no times by second.
    """
    found: dict[str, list[Part]] = defaultdict(list)
    for part in by_second(trial for trial in run.trials() if not trial.set_aside):
        name = f"{part.of.system} {part.of.test} {part.of.offered_cps:g} {part.of.group} "
        found[name + part.of.kind].append(part)
    if not found:
        raise StackcostError(
            f"{run.path} has no latency by second",
            "loads by ASTF profiles on astf-engine store it; measure the run again",
        )
    to.mkdir(parents=True, exist_ok=True)
    for name, parts in found.items():
        path = to / f"{re.sub('[^A-Za-z0-9.]+', '-', name)}.hlog"
        write_whole(path, as_log(parts).encode())
        yield path


def as_log(parts: Sequence[Part]) -> str:
    """The log of one system, load and kind: microseconds; trial after trial, without the time
    between them.
    """
    text = StringIO()
    writer = HistogramLogWriter(text)
    writer.output_comment("[microseconds; the sustain windows of all trials one after the other]")
    writer.output_log_format_version()
    writer.output_legend()
    clock, shift, trial = 0.0, 0.0, 0
    for part in parts:
        if part.trial.number != trial:
            trial, shift = part.trial.number, clock - part.start
        clock = shift + part.end
        part.times.set_start_time_stamp(1000 * (shift + part.start))
        part.times.set_end_time_stamp(1000 * clock)
        writer.output_interval_histogram(part.times, max_value_unit_ratio=US_PER_MS)
    return text.getvalue()
