"""`stackcost export`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from stackcost.cli.application import StoredRun, command, reading


class Format(StrEnum):
    """A file format that other programs can read."""

    CSV = "csv"
    PARQUET = "parquet"
    JSON = "json"


@command()
@reading
def export(
    run: StoredRun,
    form: Annotated[Format, typer.Option("--format", help="csv, parquet or json")] = Format.CSV,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="file to write; default: the terminal")
    ] = None,
    stacks: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="instead, stacks with nanoseconds per connection, for speedscope and "
            "flamegraph.pl",
        ),
    ] = None,
    latency: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="instead, histogram logs (.hlog, us) of every second, for HdrHistogram's "
            "analyzers",
        ),
    ] = None,
) -> None:
    """Write the figures of a run as one long table, with unit, definition and source."""
    import sys

    from stackcost.host.files import write_whole
    from stackcost.report.library.export import encode, write_logs
    from stackcost.report.sampled import write_stacks
    from stackcost.store import RunFolder

    for to, write in ((stacks, write_stacks), (latency, write_logs)):
        for written in write(RunFolder.open(run), to) if to else ():
            print(written)
    if stacks or latency:
        return
    content = encode(RunFolder.open(run), form.value)
    if out:
        write_whole(out, content)
    else:
        sys.stdout.buffer.write(content)
