"""The engine for any x86-64 processor: an emulated one lacks instructions of this machine's."""

import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from stackcost.contracts.errors import StackcostError
from stackcost.files import ENGINE, PACKED, SUITE

BUILT = SUITE / "build/package/astf-engine"
COMMAND = "setup.py build_engine --portable"


def portable_engine(say: Callable[[str], None] = lambda _: None) -> Path:
    """A wheel's own engine. In a checkout it is built where it is missing or older than its source.

    It is looked at once in a process. `say` is told of a build that takes minutes. A user who may
    not write there gets the one that is built. StackcostError if there is none, and if the build
    fails.
    """
    if PACKED.is_dir():
        return ENGINE
    if _may_build():
        if not BUILT.exists():
            say("building the engine for emulated processors, once: two minutes on two idle cores")
        _build()
    if not BUILT.exists():
        raise StackcostError(
            f"the engine for emulated processors is not built, and {SUITE} cannot be written",
            f"as its owner: cd {SUITE} && .venv/bin/python {COMMAND}",
        )
    return BUILT


def _may_build() -> bool:
    folder = BUILT.parent if BUILT.parent.is_dir() else SUITE
    return os.access(folder, os.W_OK)


@cache
def _build() -> None:
    tools = f"{os.environ['PATH']}:{Path(sys.executable).parent}"
    done = subprocess.run(
        [sys.executable, *COMMAND.replace(" ", " --quiet ", 1).split()],
        cwd=SUITE,
        env=os.environ | {"PATH": tools},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    if done.returncode:
        said = "\n".join(done.stdout.strip().splitlines()[-10:])
        raise StackcostError(f"the engine for emulated processors was not built: {said}")
