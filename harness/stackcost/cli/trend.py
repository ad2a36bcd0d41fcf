"""`stackcost trend`."""

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from stackcost.cli.application import command, make_console, reading

MEASURE = "stackcost run EXPERIMENT makes one, and --results FOLDER puts it there"
DEFAULT_HISTORY = Path("stackcost-gate/history.jsonl")


@command()
@reading
def trend(
    history: Annotated[
        Path,
        typer.Argument(
            metavar="HISTORY",
            help="the gate's history, or a folder of runs",
        ),
    ] = DEFAULT_HISTORY,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="also draw a plot into this SVG, PNG or PDF file"),
    ] = None,
    only: Annotated[
        str,
        typer.Option(metavar="TEXT", help="only figures with this in their title, system or name"),
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """Show when the rates of the pytest gate, or the figures of stored runs, changed."""
    from stackcost.contracts.words import count
    from stackcost.gate.history import read_history, trends_of
    from stackcost.report.run_trend import RunTrends, run_trends, trend_plot, trend_table
    from stackcost.report.terminal_table import draw

    if history.is_dir():
        found = run_trends(history, only)
    else:
        of_gate = [each for each in trends_of(read_history(history)) if each.of.has(only)]
        found = RunTrends(trends=of_gate)
    if plot:
        from stackcost.report.plots import save

        save(trend_plot(found.trends), plot)
    if as_json:
        print(found.model_dump_json(indent=2))
        return
    console = make_console()
    if found.trends:
        console.print(draw(trend_table(found.trends)))
    else:
        console.print(_nothing(history, only), soft_wrap=True)
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


def _nothing(place: Path, only: str) -> str:
    """Why a folder of runs, or a history, has no trend, and what helps."""
    from stackcost.report.listing import runs_in
    from stackcost.store.folder import MANIFEST

    if (place / MANIFEST).is_file():
        there = quote(str(place.absolute().parent))
        return f"{place} is one run; a trend is of a folder of runs: stackcost trend {there}"
    if place.is_dir() and not any(runs_in(place)):
        return f"{place} has no run; {MEASURE}"
    named = f" with {only!r} in its title, system or name" if only else ""
    return f"no figure{named} was measured twice in {place}"
