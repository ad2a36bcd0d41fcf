"""One finding about this machine."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """How far something can be used here."""

    OK = "ok"
    LIMITED = "limited"  # works, with a fallback or with less precision
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class HostCheck:
    """What was looked at, what was found, and what follows from it.

    `meaning` says what the finding changes, `hint` how to change it; both may be empty when all
    is well. `needed`: the main comparison cannot run without it.
    """

    name: str
    state: State
    found: str
    meaning: str = ""
    hint: str = ""
    needed: bool = False
