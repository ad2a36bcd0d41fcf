"""The command line: one file for each command, found by being in this folder."""

import sys


def main() -> None:
    """Entry point of `stackcost`; Ctrl-C while it is imported ends it without a traceback."""
    try:
        from stackcost.cli import entry
    except KeyboardInterrupt:
        sys.exit(130)  # INTERRUPTED of application.py, which may not be imported yet
    entry.main()
