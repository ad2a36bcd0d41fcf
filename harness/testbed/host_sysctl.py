"""Kernel settings of the whole machine: the old value is written down before one is changed.

Only for what no network namespace has of its own, such as net.core.busy_poll.
"""

import contextlib
from pathlib import Path

from harness.errors import StackcostError
from harness.testbed.state import StateFile

ROOT = Path("/proc/sys")
CHANGED = StateFile("sysctl.json")  # old values by name


def read(name: str) -> str | None:
    """Its value now; None when this kernel does not have it."""
    try:
        return _path(name).read_text().strip()
    except OSError:
        return None


def write(name: str, value: str) -> None:
    """Set it; StackcostError when the kernel refuses, as it does in most containers."""
    old = read(name)
    known = _changed()
    if old is not None and name not in known:  # an older value is the true one
        CHANGED.write(known | {name: old})
    try:
        _path(name).write_text(value)
    except OSError as error:
        raise StackcostError(f"{name} = {value}: {error.strerror}") from error


def restore() -> str | None:
    """Put every recorded value back; says what was done, None if there was nothing."""
    known = _changed()
    if not known:
        return None
    for name, old in reversed(known.items()):
        with contextlib.suppress(OSError):  # a module, and its settings with it, may be gone
            _path(name).write_text(old)
    CHANGED.remove()
    return f"set back for the whole machine: {', '.join(known)}"


def _path(name: str) -> Path:
    return ROOT / name.replace(".", "/")


def _changed() -> dict[str, str]:
    return dict(CHANGED.read() or {})
