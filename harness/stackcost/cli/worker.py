"""`stackcost worker`."""

from pathlib import Path
from typing import Annotated

import typer

from stackcost.cli.application import command, make_console
from stackcost.contracts.errors import needing_extra


@command()
def worker(
    bed: Annotated[
        Path,
        typer.Argument(metavar="BED", help="an experiment file, for its bed and cores"),
    ],
    scheduler: Annotated[
        str, typer.Option(metavar="ADDRESS", help="of the dask cluster: tls://HOST:PORT")
    ],
) -> None:
    """Measure cells on this bed for `distribute --scheduler`, until Ctrl-C. Needs root."""
    from stackcost.bed.local import check_root
    from stackcost.runs.cells.beds import read_beds

    check_root()
    ((name, own),) = read_beds([bed]).items()
    with needing_extra("beds of a cluster need", "beds"):
        from stackcost.runs.cells.cluster import serve_bed
    console = make_console()
    console.print(f"bed {name} waits for cells of {scheduler}", soft_wrap=True)
    serve_bed(name, own, scheduler)
