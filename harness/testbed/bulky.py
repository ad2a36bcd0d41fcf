"""Folders of a run that hold gigabytes while it goes, and must not stay when it is killed.

Each is written down before it is filled, so that the end of a run, or the next start, removes it.
"""

import shutil
from pathlib import Path

from harness.testbed.state import StateFile

MADE = StateFile("bulky.json")


def make(folder: Path) -> None:
    """Make it, empty; whatever ends the run, it is removed."""
    MADE.write(list(dict.fromkeys([*_made(), str(folder.resolve())])))
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def remove() -> str | None:
    """Remove all of them; says what was done, None if there was nothing."""
    known = _made()
    for folder in known:
        shutil.rmtree(folder, ignore_errors=True)
    MADE.remove()
    return f"removed {', '.join(known)}" if known else None


def _made() -> list[str]:
    return list(MADE.read() or [])
