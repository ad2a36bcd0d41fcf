"""What commands share: the application they register with, where they print, how a run ends."""

import functools
import re
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

import typer
import typer.core
from rich.console import Console
from typer.exceptions import TyperException

from stackcost.contracts.errors import StackcostError
from stackcost.report.console import PlainConsole

if TYPE_CHECKING:
    from stackcost.store import RunFolder

# Commands by what they are used for, in the order in which --help lists them.
USES = {
    "Measure": ("run", "ceiling", "dut"),
    "Read what was measured": ("show", "report", "lab", "diff", "trend", "export", "ls"),
    "Look after this machine": ("doctor", "clean"),
}


class Command(typer.core.TyperCommand):
    """A command whose --help names arguments as people write them: RUN, and not {RUN} <Path>."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """What follows the command's name in the line of its usage."""
        return [re.sub(r"[{}]", "", piece) for piece in super().collect_usage_pieces(ctx)]

    def records(self, ctx: Any) -> dict[str, list[tuple[str, str]]]:
        """Arguments and options: how each is written, and what it means."""
        found: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            if record := parameter.get_help_record(ctx):
                form, meaning = record
                is_option = form.startswith("-")
                form = form if is_option else form.partition(" <")[0]
                found["Options" if is_option else "Arguments"].append((form, meaning))
        return found

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write a section for each sort."""
        for title, records in self.records(ctx).items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


class CommandsByUse(typer.core.TyperGroup):
    """A group whose --help lists its commands by use."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Every command, in the order of `USES`."""
        return [name for names in USES.values() for name in names]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a section for each use."""
        for use, names in USES.items():
            with formatter.section(use):
                formatter.write_dl(
                    [(name, self.commands[name].get_short_help_str(limit=90)) for name in names]
                )


app = typer.Typer(
    name="stackcost",
    cls=CommandsByUse,
    help="What a connection costs, in CPU and memory, on any network stack."
    " Begin with: stackcost doctor, then stackcost run compare --quick",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"max_content_width": 100},
)
command = functools.partial(app.command, cls=Command)  # registers a command
INTERRUPTED = 130  # what a shell says of a command ended by Ctrl-C
FILE_WIDTH = 160  # columns
DEFAULT_RESULTS = Path("results")
STORED = ("run", "runs", "a", "b", "results", "history")  # arguments that name what is read
P = ParamSpec("P")


def make_console() -> Console:
    """The terminal at its width; a file or pipe wide enough for every table."""
    return PlainConsole() if Console().is_terminal else PlainConsole(width=FILE_WIDTH)


def reading(command: Callable[P, None]) -> Callable[P, None]:
    """A command that only reads what is stored: whatever is wrong with that is one clear error.

    Files are checked where they are read; this is for what they say of each other, such as a trial
    without the counters that every version stores.
    """

    @functools.wraps(command)
    def run(*given: P.args, **named: P.kwargs) -> None:
        try:
            command(*given, **named)
        except (StackcostError, TyperException, typer.Exit, BrokenPipeError):
            raise
        except Exception as error:
            stored = ", ".join(_told(named[name]) for name in STORED if name in named)
            at = traceback.extract_tb(error.__traceback__)[-1]
            raise StackcostError(
                f"cannot read {stored}: {error!r} ({Path(at.filename).name} line {at.lineno})",
                "it is damaged, or of another version; stackcost ls tells what each run is",
            ) from error

    return run


def _told(stored: object) -> str:
    return ", ".join(map(str, stored)) if isinstance(stored, list) else str(stored)


def conclude(run: "RunFolder", console: Console) -> None:
    """Print and render a run's answer, its folder last; after Ctrl-C end with its exit code."""
    from stackcost.report.answer import answer

    interrupted = run.manifest().state == "interrupted"
    if interrupted and not run.count():
        console.print(f"interrupted before the first trial; nothing was measured\n{run.path}")
        raise typer.Exit(INTERRUPTED)
    answer(run, console)
    page = run.path / "report.html"
    rendered = [f"report: {page}"] if page.exists() else []
    for line in (f"every table: stackcost show --long {run.path}", *rendered, str(run.path)):
        console.print(line, soft_wrap=True, highlight=False)
    if interrupted:
        raise typer.Exit(INTERRUPTED)
