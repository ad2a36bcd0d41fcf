"""The command line: one file for each command, found by being in this folder."""

from stackcost.harness.cli.entry import main

__all__ = ["main"]
