"""`stackcost doctor`."""

import typer

from harness.cli.application import app


@app.command()
def doctor() -> None:
    """Say what this machine can and cannot do, and how to mend it."""
    from harness import doctor as look

    raise typer.Exit(look.main())
