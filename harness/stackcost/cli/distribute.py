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


@command()
def distribute(
    experiments: Annotated[
        list[Path],
        typer.Argument(metavar="EXPERIMENT", help="YAML files, or names of built-in experiments"),
    ],
    bed: Annotated[
        list[Path],
        typer.Option(
            metavar="FILE",
            help="an experiment file whose hosts, bed, generators and cores are used; several "
            "times for several beds of one kind",
        ),
    ],
    name: Annotated[
        str, typer.Option(metavar="SET", help="of the set; the same name resumes a set")
    ],
    quick: Annotated[bool, typer.Option("--quick", help="fewer, shorter trials")] = False,
    dashboard: Annotated[
        int | None,
        typer.Option(
            metavar="PORT", help="TCP port on 127.0.0.1 for the pages of dask", min=1, max=65535
        ),
    ] = None,
    results: Annotated[
        Path, typer.Option(metavar="FOLDER", help="each run gets a new folder in this folder")
    ] = DEFAULT_RESULTS,
) -> None:
    """Run experiments, and parts of their matrices, on several test beds. Needs root.

    Each part is a cell, which is one run on a bed that is free. A cell that fails is measured on
    another bed. The exit code is 1 if cells were not measured.
    """
    from stackcost.bed.local import check_root
    from stackcost.cells.beds import read_beds
    from stackcost.cells.folder import SetFolder
    from stackcost.cells.plan import cells_of
    from stackcost.contracts.errors import StackcostError
    from stackcost.experiment.read_file import experiment_file, read_experiment
    from stackcost.report.words import count

    check_root()
    if not re.fullmatch(r"[\w.-]*\w", name):
        raise typer.BadParameter(f"--name {name!r}: letters, digits, points and hyphens")
    beds = read_beds(bed)
    files = [experiment_file(each) for each in experiments]
    cells = cells_of([(file.stem, read_experiment(file, quick)) for file in files])
    folder, console = SetFolder(results, name), make_console()

    def say(what: str) -> None:
        console.print(what, soft_wrap=True, highlight=False, markup=False)

    try:
        from stackcost.cells.distribute import distribute as measure
    except ImportError as error:
        raise StackcostError(
            f"several beds need {error.name}, which is not installed",
            "pip install 'stackcost[beds]'",
        ) from error
    with folder.locked():
        missing = folder.missing(cells)
        done = len(cells) - len(missing)
        say(f"{count(len(cells), 'cell')}, {done} measured before; beds: {', '.join(beds)}")
        try:
            lost = measure(missing, beds, folder, say, dashboard) if missing else {}
        except KeyboardInterrupt:
            say(f"interrupted; to resume, run the same command with --name {name}")
            raise typer.Exit(INTERRUPTED) from None
    for cell, why in lost.items():
        say(f"{cell} was not measured: {why}")
    say(f"{count(len(cells), 'cell')}: {len(cells) - len(lost)} measured, {len(lost)} not")
    raise typer.Exit(1 if lost else 0)
