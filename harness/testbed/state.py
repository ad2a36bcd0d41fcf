"""The folder that outlives a run: the lock, and old values of host-wide settings."""

import os
from pathlib import Path

from harness.errors import StackcostError


def state_folder() -> Path:
    """`stackcost` in /run, or in /tmp where there is no /run; made when absent, ours alone.

    StackcostError when somebody else owns the folder: what it holds would not be to be trusted.
    """
    parent = Path("/run") if os.access("/run", os.W_OK) else Path("/tmp")
    folder = parent / "stackcost"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
        raise StackcostError(f"{folder} belongs to another user", f"remove it: rm -r {folder}")
    return folder


def write_whole(path: Path, text: str) -> None:
    """Whole or not at all: a kill amid writing must not cost the old values."""
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(text)
    os.replace(unfinished, path)
