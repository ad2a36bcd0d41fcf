"""`stackcost guest`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from stackcost.bed.guest_machine import IMAGES, KERNELS, MODELS
from stackcost.cli.application import command

Verb = StrEnum("Verb", ["start", "stop", "list"])


@command()
def guest(
    verb: Annotated[Verb, typer.Argument(metavar="VERB", help="start, stop or list")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="of the guest; list needs none")] = "",
    nic: Annotated[
        list[str],
        typer.Option(
            metavar="NIC",
            help=f"a NIC for test traffic: {', '.join(MODELS)}, or virtio:QUEUES; several times "
            "for several NICs",
        ),
    ] = ["virtio"],  # noqa: B006
    cores: Annotated[int, typer.Option(metavar="N", help="cores of all nodes", min=1)] = 2,
    threads: Annotated[int, typer.Option(metavar="N", help="threads of a core", min=1, max=2)] = 1,
    nodes: Annotated[int, typer.Option(metavar="N", help="NUMA nodes", min=1, max=8)] = 1,
    memory: Annotated[int, typer.Option(metavar="MB", help="memory", min=512)] = 2048,
    kernel: Annotated[
        str, typer.Option(metavar="VERSION", help=f"Debian's: {' or '.join(KERNELS)}")
    ] = KERNELS[0],
    images: Annotated[Path, typer.Option(metavar="FOLDER", help="where images are kept")] = IMAGES,
) -> None:
    """Boot a virtual machine as a host of a test bed, and print the sections that use it.

    The first start makes an image, in about six minutes. All changes of a guest are gone when it is
    stopped.
    """
    from stackcost.bed import guest_running as running
    from stackcost.bed.guest_machine import Machine, parse_nic
    from stackcost.bed.guest_start import start
    from stackcost.bed.local import check_root
    from stackcost.contracts.errors import StackcostError

    check_root()
    if verb == Verb.list:
        for each in running.GUESTS.read():
            typer.echo(each.as_host())
    elif not name:
        raise StackcostError(f"which guest is to {verb}?", f"stackcost guest {verb} NAME")
    elif verb == Verb.stop:
        step = running.stop(running.find(name))
        typer.echo(str(step))
        raise typer.Exit(0 if step.done else 1)
    else:
        nics = tuple(map(parse_nic, nic))
        machine = Machine(cores, threads, nodes, memory, nics, kernel)
        made = start(name, machine, images, lambda what: typer.echo(f"# {name}: {what}", err=True))
        typer.echo(made.as_host())
