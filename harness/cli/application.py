"""What commands share: the application they register with, where they print, how a run ends."""

from typing import TYPE_CHECKING

import typer
from rich.console import Console

if TYPE_CHECKING:
    from harness.store import RunFolder  # takes a second to import, which --help does not need

app = typer.Typer(
    name="stackcost",
    help="What a connection costs, in CPU and memory, on any network stack.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
INTERRUPTED = 130  # what a shell says of a command ended by Ctrl-C
FILE_WIDTH = 160  # columns


def make_console() -> Console:
    """The terminal at its width; a file or pipe wide enough for every table."""
    return Console() if Console().is_terminal else Console(width=FILE_WIDTH)


def conclude(run: "RunFolder", console: Console) -> None:
    """Print and render a run's answer, its folder last; after Ctrl-C end with its exit code."""
    from harness.report.answer import answer

    interrupted = run.manifest().state == "interrupted"
    if interrupted and not run.count():
        console.print(f"interrupted before the first trial; nothing was measured\n{run.path}")
        raise typer.Exit(INTERRUPTED)
    answer(run, console)
    for line in (f"report: {run.path / 'report.html'}", str(run.path)):
        console.print(line, soft_wrap=True, highlight=False)
    if interrupted:
        raise typer.Exit(INTERRUPTED)
