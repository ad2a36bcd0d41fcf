"""The command line."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from harness.errors import StackcostError

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
DEFAULT_RESULTS = Path("results")


@app.command()
def run(
    experiment: Annotated[Path, typer.Argument(help="YAML file, such as experiments/compare.yaml")],
    quick: Annotated[bool, typer.Option("--quick", help="fewer, shorter trials")] = False,
    results: Annotated[Path, typer.Option(help="folder that takes the run's")] = DEFAULT_RESULTS,
) -> None:
    """Run an experiment, print its answer, and render its report. Needs root."""
    from harness.experiment.load_file import load_experiment
    from harness.experiment.runner import run_experiment
    from harness.report.answer import answer

    console = _console()
    plan = load_experiment(experiment, quick)
    folder = run_experiment(plan, experiment.stem, results, sys.argv, console)
    interrupted = folder.manifest().state == "interrupted"
    if interrupted and not folder.trials():
        console.print(f"interrupted before the first trial; nothing was measured\n{folder.path}")
        raise typer.Exit(INTERRUPTED)
    answer(folder, console)
    console.print(f"report: {folder.path / 'report.html'}", soft_wrap=True, highlight=False)
    console.print(str(folder.path), soft_wrap=True, highlight=False)
    if interrupted:
        raise typer.Exit(INTERRUPTED)


@app.command()
def report(
    run: Annotated[Path, typer.Argument(help="a run's folder, such as results/<time>-compare")],
) -> None:
    """Compute a stored run's answer again: tables, summary.json, report.html."""
    from harness.report.answer import answer
    from harness.store import RunFolder

    console = _console()
    folder = RunFolder.open(run)
    answer(folder, console)
    console.print(str(folder.path / "report.html"), soft_wrap=True, highlight=False)


@app.command()
def doctor() -> None:
    """Say what this machine can and cannot do, and how to mend it."""
    from harness import doctor as look

    raise typer.Exit(look.main())


@app.command()
def clean() -> None:
    """Remove what a killed run left on this machine: processes, namespaces, settings."""
    from harness.testbed.leftovers import remove_leftovers
    from harness.testbed.local import check_root

    check_root()
    removed = remove_leftovers()
    print("\n".join(removed) if removed else "nothing was left behind")


def _console() -> Console:
    """The terminal at its width; a file or pipe wide enough for every table."""
    return Console() if Console().is_terminal else Console(width=FILE_WIDTH)


def main() -> None:
    """Entry point of `stackcost`: exit code 0; 1 with one message; 2 for the command line; 130."""
    try:
        app()
    except StackcostError as error:
        print(f"stackcost: {error.what}", file=sys.stderr)
        if error.mend:
            print(f"mend: {error.mend}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
