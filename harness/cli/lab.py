"""`stackcost lab`."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from stackcost.harness.cli.application import command, reading
from stackcost.host.files import write_whole

COPIES = "stackcost-notebooks"  # at home: in the current folder somebody else may have put some


@command()
@reading
def lab(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN", help="runs' folders that the notebooks read")
    ],
    port: Annotated[
        int, typer.Option(metavar="PORT", help="on 127.0.0.1", min=1, max=65535)
    ] = 8888,
) -> None:
    """Open JupyterLab on your copies of the notebooks, with these runs. Ends with Ctrl-C.

    The copies are in stackcost-notebooks in your home folder. One that is there is kept; delete it
    to get the suite's again.
    """
    from stackcost.files import IMPORTED_FROM, NOTEBOOKS
    from stackcost.report import extra
    from stackcost.report.opened import NAMED, open_runs

    extra.require()
    open_runs(runs)  # so that what cannot be read is told here, and not in a notebook
    copies = Path.home() / COPIES
    copy_notebooks(NOTEBOOKS, copies)
    typer.echo(f"notebooks: {copies}")
    paths = [str(run.resolve()) for run in runs]
    found = os.pathsep.join(filter(None, [str(IMPORTED_FROM), os.environ.get("PYTHONPATH", "")]))
    command = [sys.executable, "-P", "-m", "jupyterlab", "--ServerApp.ip=127.0.0.1"]
    command += [f"--ServerApp.port={port}", f"--ServerApp.root_dir={copies}"]
    if os.geteuid() == 0:
        command.append("--allow-root")
    environment = os.environ | {NAMED: os.pathsep.join(paths), "PYTHONPATH": found}
    # Neither modules nor settings are taken from the folder in which the command was started.
    done = subprocess.run(command, env=environment, cwd=NOTEBOOKS, check=False)
    raise typer.Exit(done.returncode)


def copy_notebooks(suite: Path, copies: Path) -> None:
    """Copy the suite's notebooks that the folder `copies` lacks; the others may have been changed.

    They are not opened in place: what is changed there is lost with the next install, and an
    ordinary user may not write there.
    """
    copies.mkdir(exist_ok=True)
    for notebook in suite.glob("*.ipynb"):
        copy = copies / notebook.name
        if not copy.is_file():
            write_whole(copy, notebook.read_bytes())
