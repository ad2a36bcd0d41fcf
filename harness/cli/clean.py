"""`stackcost clean`."""

from harness.cli.application import app


@app.command()
def clean() -> None:
    """Remove what a killed run left on this machine: processes, namespaces, settings."""
    from harness.testbed.leftovers import undo_all
    from harness.testbed.local import check_root

    check_root()
    removed = undo_all()
    print("\n".join(removed) if removed else "nothing was left behind")
