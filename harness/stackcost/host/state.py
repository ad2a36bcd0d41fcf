"""The folder that outlives a run: the lock, and what a killed run could not undo."""

import os
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from stackcost.contracts.errors import StackcostError
from stackcost.host.files import write_whole
from stackcost.host.undo import UndoStep

DAMAGED = ".damaged"
Content = TypeVar("Content")


def state_folder() -> Path:
    """`stackcost` in /run, or in /tmp where there is no /run; made when absent, ours alone.

    StackcostError when somebody else owns the folder: what it holds would not be to be trusted.
    """
    parent = Path("/run") if os.access("/run", os.W_OK) else Path("/tmp")
    folder = parent / "stackcost"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
        raise StackcostError(
            f"{folder} belongs to another user", f"to remove it, run: rm -r {folder}"
        )
    return folder


class StateFile(Generic[Content]):
    """What is to be undone, at the end of a run or after a kill at the next start; as JSON.

    `empty`: an empty dict or list of the kind `kind`; then there is nothing to undo, and no file.
    """

    def __init__(self, name: str, kind: type[Content], empty: Content):
        self._name = name
        self._kind: TypeAdapter[Content] = TypeAdapter(kind)
        self._empty = empty

    def read(self) -> Content:
        """What was written last; a damaged file is set aside for `damaged_records`."""
        path = self._path()
        try:
            return self._kind.validate_json(path.read_bytes())
        except FileNotFoundError:
            return self._empty
        except ValidationError:
            os.replace(path, path.with_name(path.name + DAMAGED))
            return self._empty

    def write(self, value: Content) -> None:
        """Write or replace it; a kill in between does not lose the old values."""
        if value:
            write_whole(self._path(), self._kind.dump_json(value))
        else:
            self._path().unlink(missing_ok=True)

    def _path(self) -> Path:
        return state_folder() / self._name


def damaged_records() -> list[UndoStep]:
    """A step for each record that could not be read: nobody knows what it would have undone."""
    return [
        UndoStep(
            f"undo the changes recorded in {path}",
            f"the file is damaged; compare it with the machine's settings, then run: rm {path}",
            "an earlier run may have left a setting changed; the manifest lists the current ones",
        )
        for path in sorted(state_folder().glob(f"*{DAMAGED}"))
    ]
