"""One run at a time on a machine: two runs would share cores and falsify each other's figures."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import ClassVar, Self

from stackcost.contracts.errors import StackcostError
from stackcost.host.state import state_folder
from stackcost.host.waiting import wait_until

POLL_S = 0.5
ACTIVE = "another run is active on this machine"
ENDS = "wait until it ends, or press Ctrl-C in its terminal"
WAITS = "add --wait to run, ceiling or dut, or press Ctrl-C in the other run's terminal"


class LockedError(StackcostError):
    """Another process has the lock."""


class RunLock:
    """Locks this machine for one run. A second run gets an error that names the first run's pid.

    The process that holds the lock may enter it again, so that an experiment can hold it over
    several test beds. The kernel releases the lock when the process ends, in whatever way.

    `timeout_s`: how long to wait for another run to end before the error.
    """

    _depth: ClassVar[int] = 0
    _held: ClassVar[AbstractContextManager[int]]

    def __init__(self, timeout_s: float = 0.0):
        self._timeout_s = timeout_s

    def __enter__(self) -> Self:
        if RunLock._depth == 0:
            RunLock._held = locked_file(state_folder() / "lock", ACTIVE, self._timeout_s, WAITS)
            RunLock._held.__enter__()
        RunLock._depth += 1
        return self

    def __exit__(self, *_: object) -> None:
        RunLock._depth -= 1
        if RunLock._depth == 0:
            RunLock._held.__exit__(None, None, None)


@contextmanager
def lock_when_free(say: Callable[[str], None], timeout_s: float) -> Iterator[None]:
    """Lock this machine as `RunLock` does, after another run has ended; `say` is told who has it.

    `timeout_s`: how long to wait before the LockedError.
    """
    with ExitStack() as held:
        try:
            held.enter_context(RunLock())
        except LockedError as busy:
            say(busy.what)
            held.enter_context(RunLock(timeout_s))
        yield


@contextmanager
def locked_file(path: Path, taken: str, timeout_s: float = 0.0, hint: str = ENDS) -> Iterator[int]:
    """Lock a file and write our pid into it; yields the descriptor that holds the lock.

    The kernel releases it when the last process that has the descriptor ends. LockedError, which
    begins with `taken` and has this hint, if another process has it; `timeout_s`: how long to wait
    for its end.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not wait_until(lambda: _locked(descriptor), timeout_s, POLL_S):
            holder = os.read(descriptor, 200).decode(errors="replace").strip()
            raise LockedError(
                f"{taken} ({holder or 'it is just starting'})",
                hint,
            )
        started = time.strftime("%Y-%m-%d %H:%M:%S %Z")
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"pid {os.getpid()}, since {started}\n".encode(), 0)
        yield descriptor
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
