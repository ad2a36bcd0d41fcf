"""`stackcost hosts`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from stackcost.cli.application import command

Verb = StrEnum("Verb", ["check", "prepare"])


@command()
def hosts(
    verb: Annotated[Verb, typer.Argument(metavar="VERB", help="check or prepare")],
    experiment: Annotated[
        Path, typer.Argument(metavar="EXPERIMENT", help="a YAML file with the section bed")
    ],
    wheel: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="prepare: the wheel of stackcost that was installed here"
        ),
    ] = None,
) -> None:
    """Check the hosts of an experiment, or first install stackcost on each other host.

    check: SSH, version, root, interfaces, cores. Nothing is changed. prepare: install the wheel by
    SSH where `python` of the host is, run stackcost doctor there, and check.
    """
    from stackcost.experiment.read_file import experiment_file, read_experiment
    from stackcost.session.both_sides import prepare_hosts, problems_of_hosts

    plan = read_experiment(experiment_file(experiment))
    bad = False
    if verb == Verb.prepare:
        if wheel is None:
            raise typer.BadParameter("prepare needs --wheel FILE")
        bad = not prepare_hosts(plan, wheel, typer.echo)
    for host, problems in problems_of_hosts(plan).items():
        typer.echo(f"{host}: {'ready' if not problems else ''}".rstrip())
        for problem in problems:
            typer.echo(f"  {problem}")
            bad = True
    raise typer.Exit(1 if bad else 0)
