"""`stackcost show`."""

import json
from typing import Annotated

import typer

from stackcost.cli.application import StoredRun, command, make_console, reading


@command()
@reading
def show(
    run: StoredRun,
    long: Annotated[
        bool, typer.Option("--long", help="print every table, and the settings that tiers changed")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print the summary as JSON")] = False,
) -> None:
    """Print the result of a stored run on one screen, and the history of the run."""
    from stackcost.analysis.summary import Summary
    from stackcost.report.results.computed import current
    from stackcost.report.results.stored import remarks
    from stackcost.report.tables import tuning_table
    from stackcost.report.terminal import print_answer
    from stackcost.report.terminal_table import draw
    from stackcost.store import RunFolder

    folder = RunFolder.open(run)
    summary = current(folder)
    if as_json:
        print(json.dumps(summary.model_dump(mode="json"), indent=2))
        return
    console = make_console()
    print_answer(summary, console, long)
    if long and isinstance(summary, Summary):
        tuned = tuning_table(summary)
        if tuned.rows:
            console.print(draw(tuned))
    for line in remarks(folder.manifest()):
        console.print(line)
