"""`stackcost doctor`."""

import typer

from stackcost.harness.cli.application import command


@command()
def doctor() -> None:
    """Check what this machine can and cannot do, and show how to fix it."""
    from stackcost.harness.doctor import main

    raise typer.Exit(main())
