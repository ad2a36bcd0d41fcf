"""One check of this machine."""

from enum import StrEnum
from functools import partial
from typing import NamedTuple


class State(StrEnum):
    """Whether something can be used on this machine."""

    OK = "ok"
    LIMITED = "limited"  # works, with a fallback or with less precision
    MISSING = "missing"


class Finding(NamedTuple):
    """What a check found. `meaning`: the consequence. `hint`: how to fix it. Both may be empty if
    all is well.
    """

    state: State
    found: str
    meaning: str = ""
    hint: str = ""


ok, limited, missing = (partial(Finding, state) for state in State)


class HostCheck(NamedTuple):
    """`name`: the subject. `needed`: the main comparison cannot run without it."""

    name: str
    finding: Finding
    needed: bool = False
