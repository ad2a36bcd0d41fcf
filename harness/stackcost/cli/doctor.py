"""`stackcost doctor`."""

import typer

from stackcost.cli.application import command


@command()
def doctor() -> None:
    """Check what this machine can and cannot do, and show how to fix it."""
    from stackcost.doctor import main

    raise typer.Exit(main())
