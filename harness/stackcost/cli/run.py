"""`stackcost run`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from stackcost.cli.application import DEFAULT_RESULTS, command, conclude, make_console
from stackcost.cli.live import Live, shown_live
from stackcost.cli.wait import Wait, alone


@command()
def run(
    experiment: Annotated[
        Path | None,
        typer.Argument(
            metavar="EXPERIMENT",
            help="a YAML file, or the name of a built-in experiment, such as compare",
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="fewer, shorter trials")] = False,
    share_cores: Annotated[
        bool, typer.Option("--share-cores", help="HTTP clients and server share all cores")
    ] = False,
    counted: Annotated[
        bool,
        typer.Option(
            "--counted", help="count instructions in an emulated guest; no root, no times"
        ),
    ] = False,
    kernel: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KERNEL",
            help="count with this kernel: a version, such as 6.12, or a file (.deb, bzImage); "
            "several are compared",
        ),
    ] = None,
    results: Annotated[
        Path, typer.Option(metavar="FOLDER", help="folder of the new run's folder")
    ] = DEFAULT_RESULTS,
    resume: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN",
            help="instead of EXPERIMENT: an unfinished run, to measure its missing trials",
        ),
    ] = None,
    live: Live = None,
    wait: Wait = False,
) -> None:
    """Run an experiment, print the result, and write the report. Needs root, but with --counted."""
    from stackcost.experiment.entries import known_kernel
    from stackcost.experiment.read_file import experiment_file, read_experiment
    from stackcost.runs.comparison import resume_experiment, run_experiment
    from stackcost.store import RunFolder
    from stackcost.store.manifest import PlanFile

    if (experiment is None) == (resume is None):
        raise typer.BadParameter("give either EXPERIMENT or --resume RUN")
    console = make_console()
    with shown_live(live, console), alone(wait, resume.parent if resume else results, console):
        if resume:
            folder = resume_experiment(RunFolder.open(resume), sys.argv, console)
        elif experiment:
            file = experiment_file(experiment)
            plan = read_experiment(file, quick, share_cores)
            source: PlanFile | None = PlanFile(
                path=str(file.resolve()), quick=quick, share_cores=share_cores
            )
            if counted or kernel:  # the plan is then not that of the file
                kernels = [known_kernel(each, Path()) for each in kernel or ()]
                plan, source = plan.as_counted(kernels), None
            folder = run_experiment(plan, file.stem, results, sys.argv, console, source)
    conclude(folder, console)
