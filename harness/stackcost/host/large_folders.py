"""Folders with gigabytes of data during a run, which must be removed even if it is killed.

Each is recorded before it is filled, so that the end of the run, or the next start, removes it.
"""

import shutil
from functools import partial
from pathlib import Path

from stackcost.host.state import StateFile
from stackcost.host.undo import UndoStep, undo

MADE = StateFile("bulky.json", list[str], [])


def make(folder: Path) -> None:
    """Make an empty folder; it is removed however the run ends."""
    MADE.write(list(dict.fromkeys([*MADE.read(), str(folder.resolve())])))
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def remove() -> list[UndoStep]:
    """Remove all recorded folders; a folder that cannot be removed stays recorded."""
    return [_remove(Path(folder)) for folder in MADE.read()]


def _remove(folder: Path) -> UndoStep:
    step = undo(
        f"remove {folder}",
        partial(shutil.rmtree, folder),
        lambda: "it is still there" if folder.exists() else "",
        "it uses disk space; figures do not depend on it",
    )
    if step.done:
        MADE.write([each for each in MADE.read() if each != str(folder)])
    return step
