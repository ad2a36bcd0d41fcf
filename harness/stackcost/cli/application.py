"""Shared parts of the commands: the application, the console, and the end of a run."""

import functools
import re
import traceback
from collections.abc import Callable, Iterable
from importlib.metadata import version as version_of
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec

import typer
import typer.core
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from typer.exceptions import TyperException

from stackcost.contracts.errors import StackcostError
from stackcost.report.plain import visible

if TYPE_CHECKING:
    from stackcost.store import RunFolder

# Commands by what they are used for, in the order in which --help lists them.
USES = {
    "Measure": ("run", "ceiling", "dut", "distribute", "worker"),
    "Read results": ("show", "report", "lab", "diff", "trend", "export", "ls"),
    "Prepare and clean this machine": ("doctor", "hosts", "guest", "clean"),
}


class Command(typer.core.TyperCommand):
    """A command whose --help shows an argument as RUN, and not as {RUN} <Path>."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The words that follow the command's name in the usage line."""
        return [re.sub(r"[{}]", "", piece) for piece in super().collect_usage_pieces(ctx)]

    def records(self, ctx: Any) -> dict[str, list[tuple[str, str]]]:
        """The form and the help text of each argument and option."""
        found: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            if record := parameter.get_help_record(ctx):
                form, meaning = record
                is_option = form.startswith("-")
                form = form if is_option else form.partition(" <")[0]
                found["Options" if is_option else "Arguments"].append((form, meaning))
        return found

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write one section for arguments and one for options."""
        for title, records in self.records(ctx).items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


class CommandsByUse(typer.core.TyperGroup):
    """A group whose --help lists its commands by use."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All commands, in the order of `USES`."""
        return [name for names in USES.values() for name in names]

    def invoke(self, ctx: Any) -> Any:
        """Run the command. After Ctrl-C say where the trials of its runs are, and exit with 130."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            _say_kept()
            raise typer.Exit(INTERRUPTED) from None

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
    help="Measures the cost of a connection, in CPU and memory, on any network stack."
    " Begin with: stackcost doctor, then stackcost run compare --quick",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"max_content_width": 100},
)
command = functools.partial(app.command, cls=Command)  # registers a command


def _say_version(asked: bool) -> None:
    if asked:
        print(f"stackcost {version_of('stackcost')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_say_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    pass


INTERRUPTED = 130  # the exit code that shells use for a command that Ctrl-C ended
FILE_WIDTH = 160  # columns
DEFAULT_RESULTS = Path("results")
StoredRun = Annotated[
    Path, typer.Argument(metavar="RUN", help="a run's folder, such as results/<time>-compare")
]
STORED = ("run", "runs", "a", "b", "results", "history")  # arguments that name stored files
P = ParamSpec("P")


class PlainConsole(Console):
    """A console that knows no markup, and shows control characters instead of sending them.

    Its own ones (colours, a line that is drawn again) are made after this, or marked as such.
    """

    def __init__(self, **options: Any):
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Pieces of text with their styles."""
        for piece in super().render(renderable, options):
            if piece.control:
                yield piece
            else:
                yield Segment(visible(piece.text), piece.style)


def make_console() -> Console:
    """A console of the terminal's width. For a file or pipe it is wide enough for every table."""
    return PlainConsole() if Console().is_terminal else PlainConsole(width=FILE_WIDTH)


def reading(command: Callable[P, None]) -> Callable[P, None]:
    """Decorate a command that only reads stored files: any damage becomes one clear error.

    Each file is checked when it is read. This catches contradictions between files, such as a
    trial without the counters that every version stores.
    """

    @functools.wraps(command)
    def run(*given: P.args, **named: P.kwargs) -> None:
        try:
            command(*given, **named)
        except (StackcostError, TyperException, typer.Exit, BrokenPipeError):
            raise
        except Exception as error:
            places = ", ".join(_as_text(named[name]) for name in STORED if name in named)
            at = traceback.extract_tb(error.__traceback__)[-1]
            raise StackcostError(
                f"cannot read {places}: {error!r} ({Path(at.filename).name} line {at.lineno})",
                "it is damaged, or another version wrote it; stackcost ls lists all runs",
            ) from error

    return run


def _say_kept() -> None:
    from stackcost.host.signals import ending_signals_held
    from stackcost.runs import own_runs

    with ending_signals_held():
        console = make_console()
        for line in own_runs.kept():
            console.print(line, soft_wrap=True)


def _as_text(stored: object) -> str:
    return ", ".join(map(str, stored)) if isinstance(stored, list) else str(stored)


def conclude(run: "RunFolder", console: Console) -> None:
    """Print and render the result of a run, and its folder; after Ctrl-C exit with its code."""
    from stackcost.report.terminal import answer

    interrupted = run.manifest().state == "interrupted"
    if interrupted and not run.count():
        console.print(f"interrupted before the first trial; nothing was measured\n{run.path}")
        raise typer.Exit(INTERRUPTED)
    answer(run, console)
    page = run.path / "report.html"
    rendered = [f"report: {page}"] if page.exists() else []
    for line in (
        f"every table: stackcost show --long {quote(str(run.path))}",
        *rendered,
        str(run.path),
    ):
        console.print(line, soft_wrap=True)
    if interrupted:
        raise typer.Exit(INTERRUPTED)
