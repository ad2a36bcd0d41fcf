"""`stackcost dut`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from stackcost.contracts.dut_settings import Behind
from harness.cli.application import DEFAULT_RESULTS, INTERRUPTED, app, make_console


@app.command()
def dut(
    kind: Annotated[
        str,
        typer.Argument(
            help="forwarding, nftables, nat44, nat64, connection_limit, bridge, or a file"
        ),
    ],
    quick: Annotated[bool, typer.Option("--quick", help="fewer, shorter trials")] = False,
    rules: Annotated[
        int | None, typer.Option(help="nftables: rules of its linear list", min=0)
    ] = None,
    new_per_second: Annotated[
        int | None, typer.Option(help="connection_limit: new connections let through", min=1)
    ] = None,
    server: Annotated[
        Behind, typer.Option(help="what answers behind it: engine, or nginx on the kernel's stack")
    ] = "engine",
    ip_version: Annotated[
        int | None, typer.Option(help="4, or 6 for IPv6 on both sides", min=4, max=6)
    ] = None,
    results: Annotated[Path, typer.Option(help="folder that takes the runs'")] = DEFAULT_RESULTS,
) -> None:
    """Stress a device under test: costs, ceilings, exhausted state, a cut link. Needs root."""
    from harness.device.standard import report_of, standard_set

    console = make_console()
    settings = {
        "rules": rules,
        "new_per_second": new_per_second,
        "server": server,
        "ip_version": ip_version,
    }
    chosen = {name: value for name, value in settings.items() if value is not None}
    folders = standard_set(kind, quick, chosen, results, sys.argv, console)
    page = report_of(folders, console)
    console.print(f"report: {page}", soft_wrap=True, highlight=False)
    if folders[-1].manifest().state == "interrupted":
        raise typer.Exit(INTERRUPTED)
