"""Names that a user may have meant."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str]) -> str:
    """The known names that are like `name`, as the end of a sentence; all, where none is.

    Of ten names or more only those that are alike are said.
    """
    names = list(known)
    alike = get_close_matches(name, names, n=3, cutoff=0.6)
    if alike:
        return f"; did you mean {' or '.join(alike)}?"
    return f"; there are {', '.join(names)}" if 0 < len(names) < 10 else ""
