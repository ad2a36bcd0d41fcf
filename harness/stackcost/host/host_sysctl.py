"""Kernel settings of the whole machine; the old value is recorded before a change.

Only for settings that do not exist per network namespace, such as net.core.busy_poll.
"""

from functools import partial
from pathlib import Path

from stackcost.contracts.errors import StackcostError
from stackcost.host.state import StateFile
from stackcost.host.undo import UndoStep, undo

ROOT = Path("/proc/sys")
CHANGED = StateFile("sysctl.json", dict[str, str], {})  # old values by name


def read(name: str) -> str | None:
    """The current value; None if this kernel does not have the setting."""
    try:
        return _path(name).read_text().strip()
    except OSError:
        return None


def write(name: str, value: str) -> None:
    """Set it; StackcostError when the kernel refuses, as it does in most containers."""
    old = read(name)
    known = CHANGED.read()
    if old is not None and name not in known:  # an older value is the true one
        CHANGED.write(known | {name: old})
    try:
        _path(name).write_text(value)
    except OSError as error:
        raise StackcostError(f"{name} = {value}: {error.strerror}") from error


def restore() -> list[UndoStep]:
    """Restore every recorded value, the last changed one first.

    A value stays recorded until the kernel reports it. If a setting no longer exists, because its
    module was unloaded, there is nothing to restore.
    """
    return [_restore(name, old) for name, old in reversed(CHANGED.read().items())]


def _restore(name: str, old: str) -> UndoStep:
    step = undo(
        f"set {name} back to {old}",
        partial(_path(name).write_text, old),
        partial(_difference, name, old),
        f"measurements use this value: {name} = {read(name)}",
    )
    if step.done:
        CHANGED.write({each: value for each, value in CHANGED.read().items() if each != name})
    return step


def _difference(name: str, old: str) -> str:
    now = read(name)
    return "" if now is None or now.split() == old.split() else f"it is {now}"


def _path(name: str) -> Path:
    return ROOT / name.replace(".", "/")
