"""`stackcost show`."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.application import app, make_console


@app.command()
def show(
    run: Annotated[Path, typer.Argument(help="a run's folder, such as results/<time>-compare")],
    as_json: Annotated[bool, typer.Option("--json", help="the whole summary as JSON")] = False,
) -> None:
    """Print a stored run's answer, what its tiers changed, and what happened to it."""
    from harness.report.ceiling import ceilings_of, has_ceilings, print_ceilings
    from harness.report.published import published_table
    from harness.report.stored import remarks, summary_of
    from harness.report.tables import tuning_table
    from harness.report.terminal import draw, print_summary
    from harness.search.summary import CeilingSummary
    from harness.store import RunFolder

    folder = RunFolder.open(run)
    summary = ceilings_of(folder) if has_ceilings(folder) else summary_of(folder)
    if as_json:
        print(summary.model_dump_json(indent=2))
        return
    console = make_console()
    if isinstance(summary, CeilingSummary):
        print_ceilings(summary, console)
    else:
        print_summary(summary, console)
        for table in (
            tuning_table(summary),
            published_table(summary.published, summary.factors),
        ):
            if table.rows:
                console.print(draw(table))
    for line in remarks(folder.manifest()):
        console.print(line, highlight=False, markup=False)
