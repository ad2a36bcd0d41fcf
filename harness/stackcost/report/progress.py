"""What a command that takes its time is doing, in a line for each part of it."""

import sys


def say(doing: str) -> None:
    """On the standard error output, so that answers can be piped."""
    print(f"stackcost {doing}", file=sys.stderr, flush=True)
