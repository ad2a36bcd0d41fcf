"""`stackcost trend`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from stackcost.harness.cli.application import command, make_console, reading

DEFAULT_HISTORY = Path("stackcost-gate/history.jsonl")


@command()
@reading
def trend(
    history: Annotated[
        Path,
        typer.Argument(
            metavar="HISTORY", help="history file, which tests with the fixture cps_ceiling write"
        ),
    ] = DEFAULT_HISTORY,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="also draw a plot into this SVG, PNG or PDF file"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Show when the ceilings that the pytest gate measured changed."""
    from stackcost.harness.gate.history import read_history
    from stackcost.harness.gate.trend import trend as trend_of
    from stackcost.harness.gate.trend_report import trend_plot, trend_table
    from stackcost.report.plots import save
    from stackcost.report.terminal_table import draw

    found = trend_of(read_history(history))
    if plot:
        save(trend_plot(found), plot)
    if as_json:
        print(json.dumps([series.model_dump() for series in found], indent=2))
        return
    console = make_console()
    for series in found:
        console.print(draw(trend_table(series)))
    if not found:
        console.print(f"no measurements in {history}")
