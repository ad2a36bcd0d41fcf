"""`stackcost hosts`."""

from pathlib import Path
from typing import Annotated

import typer

from stackcost.harness.cli.application import command


@command()
def hosts(
    experiment: Annotated[Path, typer.Argument(help="a YAML file with the section bed")],
) -> None:
    """Check the hosts of an experiment: SSH, version, root, interfaces, cores."""
    from stackcost.harness.experiment.load_file import experiment_file, load_experiment
    from stackcost.harness.session.sides import problems_of_hosts

    bad = False
    for host, problems in problems_of_hosts(load_experiment(experiment_file(experiment))).items():
        typer.echo(f"{host}: {'ready' if not problems else ''}".rstrip())
        for problem in problems:
            typer.echo(f"  {problem}")
            bad = True
    raise typer.Exit(1 if bad else 0)
