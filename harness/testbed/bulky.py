"""Folders of a run that hold gigabytes while it goes, and must not stay when it is killed.

Each is written down before it is filled, so that the end of a run, or the next start, removes it.
"""

import json
import shutil
from pathlib import Path

from harness.testbed.state import state_folder, write_whole


def make(folder: Path) -> None:
    """Make it, empty; whatever ends the run, it is removed."""
    known = [*_recorded(), str(folder.resolve())]
    write_whole(_state_file(), json.dumps(list(dict.fromkeys(known))))
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def remove() -> str | None:
    """Remove all of them; says what was done, None if there was nothing."""
    known = _recorded()
    for folder in known:
        shutil.rmtree(folder, ignore_errors=True)
    _state_file().unlink(missing_ok=True)
    return f"removed {', '.join(known)}" if known else None


def _state_file() -> Path:
    return state_folder() / "bulky.json"


def _recorded() -> list[str]:
    path = _state_file()
    return list(json.loads(path.read_text())) if path.exists() else []
