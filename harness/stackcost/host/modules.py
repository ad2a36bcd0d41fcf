"""Which of Python's modules can be imported."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def hidden(name: str) -> Iterator[None]:
    """Meanwhile a module is as if it were not installed, for those who do without it.

    None in `sys.modules` makes its import fail, by Python's reference, "The module cache". A module
    that has been imported before stays.
    """
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[name]
