"""`stackcost lab`."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from stackcost.cli.application import command, reading
from stackcost.host.files import write_whole

COPIES = "stackcost-notebooks"  # in the home folder: another user may own the current folder


@command()
@reading
def lab(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN", help="folders of the runs for the notebooks")
    ],
    port: Annotated[
        int, typer.Option(metavar="PORT", help="TCP port on 127.0.0.1", min=1, max=65535)
    ] = 8888,
) -> None:
    """Open these runs in JupyterLab, with your own copies of the notebooks. Ctrl-C ends it.

    The copies are in stackcost-notebooks in your home folder, and are never overwritten: delete one
    to get the original again.
    """
    from stackcost.files import IMPORTED_FROM, NOTEBOOKS
    from stackcost.report import extra
    from stackcost.report.results.opened import NAMED, open_runs

    extra.require()
    open_runs(runs)  # a run that cannot be read is reported here, and not in a notebook
    copies = Path.home() / COPIES
    # The originals are not opened: the next installation would overwrite changes there, and an
    # ordinary user has no right to write there.
    copies.mkdir(exist_ok=True)
    for notebook in NOTEBOOKS.glob("*.ipynb"):
        if not (copies / notebook.name).is_file():
            write_whole(copies / notebook.name, notebook.read_bytes())
    typer.echo(f"notebooks: {copies}")
    paths = [str(run.resolve()) for run in runs]
    found = os.pathsep.join(filter(None, [str(IMPORTED_FROM), os.environ.get("PYTHONPATH", "")]))
    command = [sys.executable, "-P", "-m", "jupyterlab", "--ServerApp.ip=127.0.0.1"]
    command += [f"--ServerApp.port={port}", f"--ServerApp.root_dir={copies}"]
    if os.geteuid() == 0:
        command.append("--allow-root")
    environment = os.environ | {NAMED: os.pathsep.join(paths), "PYTHONPATH": found}
    # The folder in which the command was started must not supply modules or settings.
    done = subprocess.run(command, env=environment, cwd=NOTEBOOKS, check=False)
    raise typer.Exit(done.returncode)
