"""`stackcost ls`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from stackcost.cli.application import (
    DEFAULT_RESULTS,
    command,
    make_console,
    reading,
)


@command()
@reading
def ls(
    results: Annotated[
        Path,
        typer.Argument(metavar="RESULTS", help="folder that holds the runs"),
    ] = DEFAULT_RESULTS,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """List the runs in a folder."""
    from stackcost.report.listing import MANY, list_runs, listing_lines, listing_table
    from stackcost.report.terminal_table import draw

    runs = list_runs(results)
    if as_json:
        print(json.dumps(runs, indent=2))
    elif len(runs) >= MANY:
        print(listing_lines(results, runs))
    elif runs:
        make_console().print(draw(listing_table(results, runs)))
    else:
        print(f"no runs in {results}")
