"""Latencies of a stored run as histogram logs, which HdrHistogram's log analyzers read."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path

from hdrh.log import HistogramLogWriter

from stackcost.analysis.merged import Part, by_second
from stackcost.contracts.errors import StackcostError
from stackcost.host.files import write_whole
from stackcost.store import RunFolder

US_PER_MS = 1000.0


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
