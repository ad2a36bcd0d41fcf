"""`stackcost report`."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.application import app, make_console


@app.command()
def report(
    run: Annotated[Path, typer.Argument(help="a run's folder, such as results/<time>-compare")],
) -> None:
    """Compute a stored run's answer again: tables, summary.json, report.html."""
    from harness.report.answer import answer
    from harness.report.ceiling import answer_ceilings, has_ceilings
    from harness.store import RunFolder

    console = make_console()
    folder = RunFolder.open(run)
    (answer_ceilings if has_ceilings(folder) else answer)(folder, console)
    console.print(str(folder.path / "report.html"), soft_wrap=True, highlight=False)
