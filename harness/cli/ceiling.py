"""`stackcost ceiling`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from stackcost.harness.cli.application import DEFAULT_RESULTS, command, conclude, make_console


@command()
def ceiling(
    systems: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE_OR_SYSTEM",
            help="experiment files, of which every server is searched, or servers by name, such as "
            "nginx/kernel, in the setting of experiments/compare.yaml",
        ),
    ],
    of: Annotated[
        list[str],
        typer.Option(
            metavar="LOAD",
            help="connections (per second), flows (open at once), or requests (per second on "
            "connections kept open); may be given more than once",
        ),
    ] = ["connections"],  # noqa: B006, typer copies it
    quick: Annotated[bool, typer.Option("--quick", help="wider bounds, shorter trials")] = False,
    width: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="relative width of the bounds, 0.005 by default",
            min=1e-4,
            max=0.5,
        ),
    ] = None,
    most: Annotated[
        float | None, typer.Option(metavar="LOAD", help="never offer more than this load", min=2)
    ] = None,
    repeat: Annotated[
        int, typer.Option(metavar="N", help="find each ceiling so many times", min=1)
    ] = 1,
    results: Annotated[
        Path, typer.Option(metavar="FOLDER", help="where the folder of the run is made")
    ] = DEFAULT_RESULTS,
) -> None:
    """Find the highest load a server holds without loss (NDR) and with 0.5 % (PDR). Needs root."""
    from stackcost.harness.search.targets import ceiling_plan
    from stackcost.harness.search.turns import run_ceilings

    console = make_console()
    plan = ceiling_plan(systems, of, quick, width, most, repeat)
    folder = run_ceilings(plan, "ceiling", results, sys.argv, console)
    conclude(folder, console)
