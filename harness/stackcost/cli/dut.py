"""`stackcost dut`."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from stackcost.cli.application import DEFAULT_RESULTS, INTERRUPTED, command, make_console
from stackcost.cli.live import Live, shown_live
from stackcost.cli.wait import Wait, alone
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.wiring import Backend

if TYPE_CHECKING:
    from stackcost.store import RunFolder


@command()
def dut(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="nftables, nat44 or another kind of docs/adding-a-dut.md, or a Python file",
        ),
    ],
    quick: Annotated[bool, typer.Option("--quick", help="fewer, shorter trials")] = False,
    rules: Annotated[
        int | None, typer.Option(metavar="N", help="nftables: length of the rule list", min=0)
    ] = None,
    new_per_second: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="connection_limit: limit of new connections per second", min=1
        ),
    ] = None,
    server: Annotated[
        Backend, typer.Option(help="server behind it: engine, or nginx on the kernel's stack")
    ] = "engine",
    ip_version: Annotated[
        int | None,
        typer.Option(metavar="VERSION", help="4, or 6 for IPv6 on both sides", min=4, max=6),
    ] = None,
    tls: Annotated[
        bool, typer.Option("--tls", help="RFC 9411, 7.6 to 7.9, instead of the set")
    ] = False,
    clients: Annotated[
        bool,
        typer.Option("--clients", help="with --tls: by ab, wrk and h2load, with nginx"),
    ] = False,
    bed: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="an experiment file, for its bed and cores",
        ),
    ] = None,
    results: Annotated[
        Path, typer.Option(metavar="FOLDER", help="folder of the new runs' folders")
    ] = DEFAULT_RESULTS,
    live: Live = None,
    wait: Wait = False,
) -> None:
    """Stress a device under test: costs, ceilings, a full table, a cut link. Needs root."""
    from stackcost.runs.device import standard_set

    console = make_console()
    if clients and not tls:
        raise StackcostError("--clients are of HTTPS", "add --tls")
    settings = {
        "rules": rules,
        "new_per_second": new_per_second,
        "server": "nginx" if clients else server,
        "ip_version": ip_version,
    }
    chosen = {name: value for name, value in settings.items() if value is not None}
    with shown_live(live, console), alone(wait, results, console):
        folders = standard_set(kind, quick, chosen, results, sys.argv, console, bed, tls, clients)
    interrupted = folders[-1].manifest().state == "interrupted"
    measured = [folder for folder in folders if folder.count()]
    if page := _report(measured, console):
        console.print(f"report: {page}", soft_wrap=True)
    for folder in measured:
        console.print(str(folder.path), soft_wrap=True)
    if interrupted:
        console.print("interrupted: the answer is of what was measured before that")
        raise typer.Exit(INTERRUPTED)


def _report(folders: "Sequence[RunFolder]", console: Console) -> Path | None:
    """Compute and print the result of each run, and write one page about all runs.

    Returns None if no page can be rendered here; the console then shows the reason.
    """
    from stackcost.report.extra import can_render
    from stackcost.report.results.computed import summarise_again
    from stackcost.report.terminal import print_answer

    for folder in folders:
        summary = summarise_again(folder)
        console.print(f"\n{summary.title}", style="bold")
        print_answer(summary, console)
    if not folders or not can_render(console):
        return None
    from stackcost.report.notebook import render

    return render([folder.path for folder in folders], folders[-1].path / "report.html")
