"""`stackcost ceiling`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from stackcost.cli.application import DEFAULT_RESULTS, command, conclude, make_console
from stackcost.cli.live import Live, shown_live
from stackcost.cli.wait import Wait, alone


@command()
def ceiling(
    systems: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE_OR_SYSTEM",
            help="experiment files, of which every server is measured, or names of servers (with "
            "the settings of experiments/compare.yaml)",
        ),
    ],
    of: Annotated[
        list[str],
        typer.Option(
            metavar="LOAD",
            help="connections (per second), flows (open at once), or requests (per second on open "
            "connections); may be repeated",
        ),
    ] = ["connections"],  # noqa: B006, typer copies it
    quick: Annotated[bool, typer.Option("--quick", help="wider bounds, shorter trials")] = False,
    width: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="relative width of the bounds; default 0.005",
            min=1e-4,
            max=0.5,
        ),
    ] = None,
    most: Annotated[
        float | None, typer.Option(metavar="LOAD", help="highest load to offer", min=2)
    ] = None,
    repeat: Annotated[int, typer.Option(metavar="N", help="find each ceiling N times", min=1)] = 1,
    results: Annotated[
        Path, typer.Option(metavar="FOLDER", help="folder of the new run's folder")
    ] = DEFAULT_RESULTS,
    live: Live = None,
    wait: Wait = False,
) -> None:
    """Find the highest load without loss (NDR) and with 0.5 % loss (PDR). Needs root."""
    from stackcost.runs.search import run_ceilings
    from stackcost.runs.targets import ceiling_plan

    console = make_console()
    plan = ceiling_plan(systems, of, quick, width, most, repeat)
    with shown_live(live, console), alone(wait, results, console):
        folder = run_ceilings(plan, "ceiling", results, sys.argv, console)
    conclude(folder, console)
