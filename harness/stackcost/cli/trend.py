"""`stackcost trend`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from stackcost.cli.application import command, make_console, reading, stored

DEFAULT_HISTORY = Path("stackcost-gate/history.jsonl")


@command()
@reading
def trend(
    history: Annotated[
        Path,
        typer.Argument(
            parser=stored,
            metavar="HISTORY",
            help="history file that tests with the fixture cps_ceiling write, or a folder of runs, "
            "or the URL of a store",
        ),
    ] = DEFAULT_HISTORY,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="also draw a plot of a history file into this SVG, PNG or PDF file"
        ),
    ] = None,
    only: Annotated[
        str,
        typer.Option(
            metavar="TEXT", help="of runs: only figures with this in their title, system or name"
        ),
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Show when the rates of the pytest gate, or the figures of stored runs, changed."""
    if history.is_dir():
        if plot:
            raise typer.BadParameter("--plot draws a history file, not a folder of runs")
        _of_runs(history, only, as_json)
        return
    if only:
        raise typer.BadParameter("--only chooses figures of a folder of runs")
    from stackcost.gate.history import read_history
    from stackcost.gate.trend import trend as trend_of
    from stackcost.gate.trend_report import trend_plot, trend_table
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


def _of_runs(results: Path, only: str, as_json: bool) -> None:
    from stackcost.report.run_trend import run_trends, trend_table
    from stackcost.report.terminal_table import draw
    from stackcost.report.words import count

    found = run_trends(results, only)
    if as_json:
        print(found.model_dump_json(indent=2))
        return
    console = make_console()
    for series in found.trends:
        console.print(draw(trend_table(series)))
    if not found.trends:
        console.print(f"no figure of {results} is in two complete runs")
    lines = [
        (found.single, "figure", "in one run only; a trend needs two"),
        (found.unanswered, "run", "without a stored answer; stackcost report stores it"),
        (
            found.older,
            "run",
            "with an answer that is not of these files and this program, such as a copy that lost "
            "its files' times; stackcost report computes it again",
        ),
    ]
    for number, what, why in lines:
        if number:
            console.print(f"{count(number, what)} {why}", soft_wrap=True)
