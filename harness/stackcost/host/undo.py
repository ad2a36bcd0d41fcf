"""Undoes changes of a machine step by step, and checks the result of each step."""

from collections.abc import Callable
from dataclasses import dataclass

from stackcost.contracts.errors import words_of


@dataclass(frozen=True, slots=True)
class UndoStep:
    """One change to undo, and the result.

    `what`: describes it. `reason`: why it is not done; empty if it is done, which was checked.
    `matters`: the consequence for the next run if it is not done. `blocks`: no next run is possible
    before it is done.
    """

    what: str
    reason: str = ""
    matters: str = ""
    blocks: bool = False

    @property
    def done(self) -> bool:
        """Whether the change is undone."""
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
    """Do one step and check it; an error becomes its reason and does not stop other steps.

    `left`: describes what is still to undo; empty if nothing is. If it is empty before, the step
    does nothing.
    """
    try:
        if left():
            act()
        reason = left()
    except Exception as error:
        reason = words_of(error)
    return UndoStep(what, reason, matters, blocks)
