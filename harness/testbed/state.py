"""The folder that outlives a run: the lock, and what a killed run could not undo."""

import json
import os
from pathlib import Path
from typing import Any

from harness.errors import StackcostError
from harness.files import write_whole


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


class StateFile:
    """What is to be undone, at the end of a run or after a kill at the next start; as JSON."""

    def __init__(self, name: str):
        self._name = name

    def read(self) -> Any:
        """What was written last; None when there is nothing to undo."""
        path = self._path()
        return json.loads(path.read_bytes()) if path.exists() else None

    def write(self, value: Any) -> None:
        """Write or replace it; a kill amid that does not cost the old values."""
        write_whole(self._path(), json.dumps(value).encode())

    def remove(self) -> None:
        """There is nothing left to undo."""
        self._path().unlink(missing_ok=True)

    def _path(self) -> Path:
        return state_folder() / self._name
