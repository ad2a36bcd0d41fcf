"""`stackcost lab`."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.application import app


@app.command()
def lab(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="runs' folders that the notebooks read")
    ],
    port: Annotated[int, typer.Option(help="on 127.0.0.1", min=1, max=65535)] = 8888,
) -> None:
    """Open JupyterLab on the notebooks, with these runs. Ends with Ctrl-C."""
    from harness.report.notebook import NOTEBOOKS
    from harness.report.opened import NAMED
    from harness.store import RunFolder

    paths = [str(RunFolder.open(run).path.resolve()) for run in runs]
    suite = str(NOTEBOOKS.parent)
    found = os.pathsep.join(filter(None, [suite, os.environ.get("PYTHONPATH", "")]))
    command = [sys.executable, "-m", "jupyterlab", "--ServerApp.ip=127.0.0.1"]
    command += [f"--ServerApp.port={port}", f"--ServerApp.root_dir={NOTEBOOKS}"]
    if os.geteuid() == 0:
        command.append("--allow-root")
    environment = os.environ | {NAMED: os.pathsep.join(paths), "PYTHONPATH": found}
    raise typer.Exit(subprocess.run(command, env=environment, check=False).returncode)
