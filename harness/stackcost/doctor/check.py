"""One check of this machine."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """Whether something can be used on this machine."""

    OK = "ok"
    LIMITED = "limited"  # works, with a fallback or with less precision
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class HostCheck:
    """The result of one check.

    `name`: the subject. `found`: what the check found. `meaning`: the consequence. `hint`: how to
    fix it. `meaning` and `hint` may be empty if all is well. `needed`: the main comparison cannot
    run without it.
    """

    name: str
    state: State
    found: str
    meaning: str = ""
    hint: str = ""
    needed: bool = False
