"""The folder of an agent, for configurations and logs; each agent has its own."""

import os
import shutil
from functools import partial
from pathlib import Path

import psutil

from stackcost.host.state import state_folder
from stackcost.host.undo import UndoStep, undo

PREFIX = "agent-"


def agent_folder() -> Path:
    """The folder of this process; it need not exist."""
    return state_folder() / f"{PREFIX}{os.getpid()}"


def remove_abandoned() -> list[UndoStep]:
    """Remove the folders of agents that were killed."""
    return [
        _remove(folder)
        for folder in sorted(state_folder().glob(f"{PREFIX}*"))
        if not psutil.pid_exists(int(folder.name.removeprefix(PREFIX)))
    ]


def _remove(folder: Path) -> UndoStep:
    return undo(
        f"remove {folder}",
        partial(shutil.rmtree, folder),
        lambda: "it is still there" if folder.exists() else "",
        "it uses memory; figures do not depend on it",
    )
