"""`stackcost diff`."""

import json
from typing import Annotated

import typer

from stackcost.cli.application import command, make_console, reading


@command()
@reading
def diff(
    a: Annotated[
        str,
        typer.Argument(
            metavar="A",
            help="a run's folder, or several of the same system: RUN,RUN,RUN; with #SYSTEM one "
            "system of it",
        ),
    ],
    b: Annotated[
        str, typer.Argument(metavar="B", help="like A; #SYSTEM alone names a system of A's runs")
    ],
    everything: Annotated[
        bool, typer.Option("--all", help="print also the figures without a verdict")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print all results as JSON")] = False,
) -> None:
    """Compare two runs, or two systems of one run: do they differ, and by how much?

    With three or more runs of each side it is known, and not assumed, how far runs of the same are
    apart.
    """
    from stackcost.report.difference import Side, difference, difference_table, sentence
    from stackcost.report.terminal_table import draw

    found = difference(Side.of(a), Side.of(b, run_of=a))
    if as_json:
        print(json.dumps(found.model_dump(mode="json"), indent=2))
        return
    console = make_console()
    for line in found.busy:
        console.print(line, style="yellow", soft_wrap=True)
    console.print(draw(difference_table(found, everything)))
    for line in found.failures:
        console.print(f"not served: {line}", style="yellow")
    if any(found.flagged):
        console.print(f"flagged trials: {found.flagged[0]} of A, {found.flagged[1]} of B")
    for line in found.set_aside:
        console.print(f"set aside: {line}")
    for line in found.not_compared:
        console.print(f"not compared: {line}")
    for line in found.guests:
        console.print(f"guest: {line}")
    for line in found.machine:
        console.print(f"other difference: {line}")
    console.print(sentence(found), style="bold", soft_wrap=True)
