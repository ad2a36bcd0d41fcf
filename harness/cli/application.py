"""What all commands share: the application they register with, and where they print."""

import typer
from rich.console import Console

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
