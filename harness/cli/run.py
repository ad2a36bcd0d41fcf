"""`stackcost run`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from stackcost.harness.cli.application import DEFAULT_RESULTS, app, conclude, make_console


@app.command()
def run(
    experiment: Annotated[
        Path | None,
        typer.Argument(help="YAML file, or the suite's own by name: compare"),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="fewer, shorter trials")] = False,
    share_cores: Annotated[
        bool, typer.Option("--share-cores", help="HTTP clients and server both get every core")
    ] = False,
    results: Annotated[Path, typer.Option(help="folder that takes the run's")] = DEFAULT_RESULTS,
    resume: Annotated[
        Path | None, typer.Option(help="instead of a file: a run's folder, to run what it lacks")
    ] = None,
) -> None:
    """Run an experiment, print its answer, and render its report. Needs root."""
    from stackcost.harness.comparison.turns import resume_experiment, run_experiment
    from stackcost.harness.experiment.load_file import experiment_file, load_experiment
    from stackcost.store import RunFolder

    if (experiment is None) == (resume is None):
        raise typer.BadParameter("name an experiment's file, or --resume RUN")
    console = make_console()
    if resume:
        folder = resume_experiment(RunFolder.open(resume), sys.argv, console)
    elif experiment:
        file = experiment_file(experiment)
        plan = load_experiment(file, quick, share_cores)
        folder = run_experiment(plan, file.stem, results, sys.argv, console)
    conclude(folder, console)
