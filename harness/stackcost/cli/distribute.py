"""`stackcost distribute`."""

import re
from pathlib import Path
from typing import Annotated

import typer

from stackcost.cli.application import (
    DEFAULT_RESULTS,
    INTERRUPTED,
    command,
    make_console,
)
from stackcost.contracts.errors import needing_extra


@command()
def distribute(
    experiments: Annotated[
        list[Path],
        typer.Argument(metavar="EXPERIMENT", help="YAML files, or names of built-in experiments"),
    ],
    name: Annotated[
        str, typer.Option(metavar="SET", help="name of the set; the same name resumes it")
    ],
    bed: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="an experiment file, for its bed and cores; once for each bed",
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="instead of --bed: dask cluster with workers of `stackcost worker`; "
            "tls://HOST:PORT",
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="fewer, shorter trials")] = False,
    dashboard: Annotated[
        int | None,
        typer.Option(metavar="PORT", help="port on 127.0.0.1 for dask's pages", min=1, max=65535),
    ] = None,
    results: Annotated[
        Path, typer.Option(metavar="FOLDER", help="folder of the new runs' folders")
    ] = DEFAULT_RESULTS,
) -> None:
    """Run experiments, and parts of their matrices, on several test beds. Needs root.

    Each part is a cell, which is one run on a bed that is free. A cell that fails is measured on
    another bed. The exit code is 1 if cells were not measured.
    """
    from stackcost.bed.local import check_root
    from stackcost.contracts.words import count
    from stackcost.experiment.read_file import experiment_file, read_experiment
    from stackcost.runs.cells.beds import read_beds
    from stackcost.runs.cells.folder import SetFolder
    from stackcost.runs.cells.plan import cells_of

    if bool(bed) == bool(scheduler):
        raise typer.BadParameter("give --bed, once or more, or --scheduler")
    if bed:
        check_root()
    if not re.fullmatch(r"[\w.-]*\w", name):
        raise typer.BadParameter(f"--name {name!r}: letters, digits, points and hyphens")
    beds = read_beds(bed) if bed else {}
    files = [experiment_file(each) for each in experiments]
    cells = cells_of([(file.stem, read_experiment(file, quick)) for file in files])
    folder, console = SetFolder(results, name), make_console()

    def say(what: str) -> None:
        console.print(what, soft_wrap=True)

    with needing_extra("several beds need", "beds"):
        from stackcost.runs.cells.cluster import own_cluster, running_cluster
        from stackcost.runs.cells.distribute import distribute as measure
    cluster = running_cluster(scheduler) if scheduler else own_cluster(beds, dashboard)
    lost: dict[str, str] = {}
    with folder.locked():
        missing = folder.missing(cells)
        done = len(cells) - len(missing)
        where = f"scheduler: {scheduler}" if scheduler else f"beds: {', '.join(beds)}"
        say(f"{count(len(cells), 'cell')}, {done} measured before; {where}")
        try:
            if missing:
                with cluster as client:
                    lost = measure(missing, client, folder, say, elsewhere=bool(scheduler))
        except KeyboardInterrupt:
            say(f"interrupted; to resume, run the same command with --name {name}")
            raise typer.Exit(INTERRUPTED) from None
    for cell, why in lost.items():
        say(f"{cell} was not measured: {why}")
    say(f"{count(len(cells), 'cell')}: {len(cells) - len(lost)} measured, {len(lost)} not")
    raise typer.Exit(1 if lost else 0)
