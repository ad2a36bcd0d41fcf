"""`stackcost clean`."""

import typer

from stackcost.cli.application import command


@command()
def clean() -> None:
    """Remove what a killed run left on this machine: processes, namespaces, settings.

    The exit code is 1 if something could not be undone.
    """
    from stackcost.bed.leftovers import undo_all
    from stackcost.bed.local import check_root

    check_root()
    steps = undo_all()
    print("\n".join(map(str, steps)) if steps else "nothing was left behind")
    if not all(step.done for step in steps):
        raise typer.Exit(1)
