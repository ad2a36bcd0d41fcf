"""Commands that run this program as root, for hints."""

import os
import shutil
import sys
from pathlib import Path
from shlex import join, quote

PROGRAM = "stackcost"
ROOTS = (
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"  # sudo's, by Debian's sudoers
)


def as_root(arguments: str) -> str:
    """`stackcost` with these arguments as root, as one types it: sudo has a PATH of its own.

    The program's full path, unless the program that is found in that PATH is this one.
    """
    own = Path(sys.prefix, "bin", PROGRAM)
    found = shutil.which(PROGRAM, path=ROOTS)
    same = found is not None and own.exists() and os.path.samefile(found, own)
    return f"sudo {PROGRAM if same else quote(str(own))} {arguments}"


def same_as_root() -> str:
    """The command line of this process as root."""
    program, *arguments = sys.argv
    if Path(program).name == PROGRAM:
        return as_root(join(arguments))
    if os.access(program, os.X_OK):
        return f"sudo {join([os.path.abspath(program), *arguments])}"
    return f"sudo {join([sys.executable, *sys.orig_argv[1:]])}"
