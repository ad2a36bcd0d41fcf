"""The interface for starting processes; the test bed supplies the function."""

import subprocess
from pathlib import Path
from typing import IO, Any, Protocol


class Spawn(Protocol):
    """Starts a program where the caller wants it: in a namespace, on certain CPUs.

    `options` are subprocess.Popen's. The process id must be the program's own (enter by exec).
    """

    def __call__(self, argv: list[str], **options: Any) -> "subprocess.Popen[Any]":
        """Start `argv` and return at once."""


def spawn_here(argv: list[str], **options: Any) -> "subprocess.Popen[Any]":
    """Start on this machine as it is: no namespace, any CPU."""
    return subprocess.Popen(argv, **options)


def last_lines(log: IO[bytes] | Path) -> str:
    """The last twelve lines of a process's output, for an error message."""
    if isinstance(log, Path):
        content = log.read_bytes() if log.exists() else b""
    else:
        log.seek(0)
        content = log.read()
    return "\n".join(content.decode(errors="replace").strip().splitlines()[-12:])
