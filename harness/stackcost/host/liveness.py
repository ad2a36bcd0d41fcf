"""Checks that a process that the harness needs still runs."""

from contextlib import suppress

import psutil

from stackcost.contracts.errors import StackcostError

STOPPED = (psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP)


def check_lives(process_id: int, what: str, see: str = "") -> None:
    """StackcostError if the process has ended, or is stopped and so cannot answer.

    `what` is the part of the bed that it belongs to, for the message; `see`: where to look.
    """
    try:
        status = psutil.Process(process_id).status()
    except psutil.NoSuchProcess:
        status = psutil.STATUS_ZOMBIE
    if status == psutil.STATUS_ZOMBIE:
        raise StackcostError(f"{what} (process {process_id}) has ended", see)
    _check_not_stopped(process_id, status, what)


def descendants(process_id: int) -> list[psutil.Process]:
    """All that a program and its children have started; empty if it has ended."""
    try:
        return psutil.Process(process_id).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def check_family(process_id: int, what: str) -> None:
    """Apply `check_lives` to a program, and check that none of its children is stopped.

    Children may end by themselves at any time, as the commands of a script do.
    """
    check_lives(process_id, what)
    for child in descendants(process_id):
        with suppress(psutil.NoSuchProcess):
            _check_not_stopped(child.pid, child.status(), what)


def _check_not_stopped(process_id: int, status: str, what: str) -> None:
    if status in STOPPED:
        raise StackcostError(
            f"{what} (process {process_id}) is stopped by a signal or a debugger",
            f"to continue it, run: kill -CONT {process_id}",
        )
