"""The one exception that ends a command with a message for its user."""

from collections.abc import Iterator
from contextlib import contextmanager


class StackcostError(Exception):
    """An error that the user can fix.

    `what` names the cause, `hint` the command or change that fixes it. The command line prints
    both and exits with 1; nothing else may reach a user as a traceback.
    """

    def __init__(self, what: str, hint: str = ""):
        super().__init__(what if not hint else f"{what}; {hint}")
        self.what = what
        self.hint = hint


def words_of(error: BaseException) -> str:
    """What an error of any kind says; its kind where it says nothing."""
    return str(error) or type(error).__name__


@contextmanager
def needing_extra(what: str, extra: str) -> Iterator[None]:
    """Inside, libraries are imported that an extra of the package brings; `what` needs them."""
    try:
        yield
    except ImportError as error:
        raise StackcostError(
            f"{what} {error.name}, which is not installed", f"pip install 'stackcost[{extra}]'"
        ) from error
