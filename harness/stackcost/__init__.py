"""What a connection costs on a network stack: reading stored runs as tables.

    import stackcost
    run = stackcost.open("results/20260101T120000Z-compare")
    run.kinds("server_cpu").groupby(["system", "kind"])["value"].median()

Importing this takes no time and touches nothing: pandas is imported once a run is opened. Nothing
here starts a program, needs root, or executes code of a run. `stackcost.report.library.run.Run`
has all of it; every other part of stackcost is a package below this one.
"""

from os import PathLike
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stackcost.report.library.run import Run

__all__ = ["open"]


def open(*runs: str | PathLike[str]) -> "Run":
    """Stored runs as tables; of several, each system is named with its run's number.

    `runs`: folders, or names of folders in `results` below the current one. Without any, those that
    `stackcost lab` was given. StackcostError when one is not there or cannot be read.
    """
    from stackcost.report.library.run import Run

    return Run.open(runs)
