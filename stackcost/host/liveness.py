"""Whether a process that the harness depends on still does its work."""

from contextlib import suppress

import psutil

from stackcost.contracts.errors import StackcostError

STOPPED = (psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP)


def check_lives(process_id: int, what: str, see: str = "") -> None:
    """StackcostError when the process has ended, or was stopped and so never answers.

    `what` is the part of the bed that it belongs to, for the message; `see`: where to look.
    """
    try:
        status = psutil.Process(process_id).status()
    except psutil.NoSuchProcess:
        status = psutil.STATUS_ZOMBIE
    if status == psutil.STATUS_ZOMBIE:
        raise StackcostError(f"{what} (process {process_id}) has ended", see)
    _check_not_stopped(process_id, status, what)


def check_family(process_id: int, what: str) -> None:
    """`check_lives` of a program, and that nothing it has started was stopped.

    What a program starts may end by itself at any time, as the commands of a script do.
    """
    check_lives(process_id, what)
    try:
        children = psutil.Process(process_id).children(recursive=True)
    except psutil.NoSuchProcess:
        children = []
    for child in children:
        with suppress(psutil.NoSuchProcess):
            _check_not_stopped(child.pid, child.status(), what)


def _check_not_stopped(process_id: int, status: str, what: str) -> None:
    if status in STOPPED:
        raise StackcostError(
            f"{what} (process {process_id}) is stopped by a signal or a debugger",
            f"to continue it, run: kill -CONT {process_id}",
        )
