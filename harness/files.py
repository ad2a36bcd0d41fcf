"""Writing a file so that it is there whole or not at all, however the program ends."""

import errno
import os
import shutil
from pathlib import Path

from harness.errors import StackcostError


def write_whole(path: Path, content: bytes) -> None:
    """Write or replace a file: under another name first, which then takes its place.

    StackcostError that says what is missing; what was there before is there still.
    """
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        unfinished.write_bytes(content)
        os.replace(unfinished, path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise _explained(error, path, len(content)) from error


def _explained(error: OSError, path: Path, needed: int) -> StackcostError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        free = shutil.disk_usage(path.parent).free
        return StackcostError(
            f"no space left for {path}: it needs {needed:,} bytes and {free:,} are free",
            f"free some, or write elsewhere; what is full: df -h {path.parent}",
        )
    return StackcostError(
        f"cannot write {path}: {error.strerror}", f"see what is there: ls -ld {path.parent}"
    )
