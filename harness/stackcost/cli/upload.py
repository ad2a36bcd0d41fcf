"""`stackcost upload`."""

from pathlib import Path
from typing import Annotated

import typer

from stackcost.cli.application import command, reading


@command()
@reading
def upload(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN", help="folders of runs, such as results/*")
    ],
    to: Annotated[
        str, typer.Option(metavar="URL", help="an object store, such as s3://bucket/runs")
    ],
) -> None:
    """Copy runs into an object store. ls, trend, report and others read them by their URL."""
    from stackcost.store import RunFolder
    from stackcost.store.object_store import upload as upload_run

    for run in runs:
        print(upload_run(RunFolder.open(run), to))
