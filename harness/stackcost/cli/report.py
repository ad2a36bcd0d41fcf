"""`stackcost report`."""

from pathlib import Path
from typing import Annotated

import typer

from stackcost.cli.application import command, make_console, reading

PAGE = "report.html"


@command()
@reading
def report(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN",
            help="folders of runs, such as results/<time>-compare",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help=f"the page to write; default for several runs: {PAGE} in the current folder, "
            "with --only the notebook's name there",
        ),
    ] = None,
    only: Annotated[
        str,
        typer.Option(
            metavar="NOTEBOOK",
            help="only this notebook, such as published_vs_measured",
        ),
    ] = "",
) -> None:
    """Compute the results of stored runs again, and write them to one HTML page.

    Of a single run it also prints the tables, and writes summary.json and report.html into its
    folder.
    """
    from stackcost.report import extra
    from stackcost.report.results.computed import summarise_again
    from stackcost.report.terminal import answer
    from stackcost.store import RunFolder

    extra.require()
    from stackcost.report.notebook import render

    console = make_console()
    folders = [RunFolder.open(run) for run in runs]
    alone = len(runs) == 1 and not only
    page = out or (runs[0] if alone else Path()) / (f"{only}.html" if only else PAGE)
    if alone and out is None:
        answer(folders[0], console)
    else:
        for folder in folders:
            summarise_again(folder)
        render(runs, page, only)
    console.print(str(page), soft_wrap=True)
