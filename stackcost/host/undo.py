"""Undoing what was applied to a machine: step by step, each looked at afterwards."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class UndoStep:
    """One thing to undo, and what became of it.

    `what`: in words. `reason`: why it is not done; empty when it is, which was seen afterwards.
    `matters`: what it means for the next run that it is not done. `blocks`: there is no next run
    before it is done.
    """

    what: str
    reason: str = ""
    matters: str = ""
    blocks: bool = False

    @property
    def done(self) -> bool:
        """Whether it is undone."""
        return not self.reason

    def __str__(self) -> str:
        if self.done:
            return f"done: {self.what}"
        return f"NOT done: {self.what}: {self.reason}; {self.matters}"


def undo(
    what: str,
    act: Callable[[], object],
    left: Callable[[], str],
    matters: str = "",
    blocks: bool = False,
) -> UndoStep:
    """Do one step and look whether it is done; an error is its reason and hinders no other step.

    `left`: what there still is to undo, in words; empty when nothing. When it says so before, there
    is nothing to do.
    """
    try:
        if left():
            act()
        reason = left()
    except Exception as error:
        reason = str(error) or type(error).__name__
    return UndoStep(what, reason, matters, blocks)
