"""A control group that limits the memory of its processes, their page cache included.

Pages of a file count for the group that read them first, so files larger than the limit cannot stay
in memory. There are two versions of the kernel's interface (Documentation/admin-guide/cgroup-v2.rst
and cgroup-v1/memory.rst); a distribution mounts one of them.
"""

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from stackcost.contracts.errors import StackcostError
from stackcost.host.undo import UndoStep, undo

ROOT = Path("/sys/fs/cgroup")
NAME = "stackcost-memory"


def limit_memory(processes: Iterable[int], limit: int) -> None:
    """Move processes into the group, with this limit in bytes for all of them together.

    StackcostError if this machine's control groups cannot limit memory.
    """
    folder, setting = _place()
    try:
        folder.mkdir(exist_ok=True)
        (folder / setting).write_text(str(limit))
        for process in processes:
            (folder / "cgroup.procs").write_text(str(process))
    except OSError as error:
        raise StackcostError(f"{folder} cannot limit memory: {error}") from error


def remove() -> list[UndoStep]:
    """Remove the group of this or of a killed run; its processes must have ended."""
    places = (ROOT / "memory" / NAME, ROOT / NAME)
    return [_remove(folder) for folder in places if folder.is_dir()]


def _place() -> tuple[Path, str]:
    """The group's folder, and the name of its limit."""
    if (ROOT / "memory/memory.limit_in_bytes").is_file():
        return ROOT / "memory" / NAME, "memory.limit_in_bytes"
    passed_on = ROOT / "cgroup.subtree_control"
    if passed_on.is_file() and "memory" in passed_on.read_text().split():
        return ROOT / NAME, "memory.max"
    raise StackcostError(
        f"no control group below {ROOT} limits memory",
        f"with cgroup v2: echo +memory > {passed_on}",
    )


def _remove(folder: Path) -> UndoStep:
    return undo(
        f"remove the control group {folder}",
        partial(folder.rmdir),
        lambda: "it is still there" if folder.is_dir() else "",
        "it uses no memory; figures do not depend on it",
    )
