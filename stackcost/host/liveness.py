"""Whether a process that the harness depends on still does its work."""

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
        raise StackcostError(f"{what}, process {process_id}, is gone", see)
    if status in STOPPED:
        raise StackcostError(
            f"{what}, process {process_id}, is stopped: a signal or a debugger halted it",
            f"let it go on with: kill -CONT {process_id}",
        )


def family(process_id: int) -> list[int]:
    """A process and all its descendants that live now; nothing when it is gone."""
    try:
        process = psutil.Process(process_id)
        return [process.pid, *(child.pid for child in process.children(recursive=True))]
    except psutil.NoSuchProcess:
        return []
