"""Programs in Python that stand in for others."""

import sys
from pathlib import Path


def write_program(path: Path, text: str) -> None:
    """A file that can be started by its name.

    The kernel ends the path of an interpreter at a space (fs/binfmt_script.c), which that of this
    Python may have. So a shell starts it, for whom the two lines are a command; to Python they are
    a string.
    """
    path.write_text(f"#!/bin/sh\n'''exec' \"{sys.executable}\" \"$0\" \"$@\"\n' '''\n{text}")
    path.chmod(0o755)
