"""Whether a stored answer is still what would be computed, told without computing it.

An answer follows from the program and from a run's stored files alone, so it carries the digest of
both. A file of the run counts by its name, length and moment of writing: to read them all again
would take as long as to compute. Of the program every file counts by its content.
"""

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pydantic import ValidationError

from stackcost.analysis.ceiling.summary import CeilingSummary
from stackcost.analysis.summary import Summary
from stackcost.contracts.errors import StackcostError
from stackcost.report.stored import MeasuredKind, kind_of
from stackcost.store import RunFolder

if TYPE_CHECKING:
    from stackcost.analysis.events.summary import EventSummary

AnySummary: TypeAlias = "Summary | CeilingSummary | EventSummary"
SUITE = Path(__file__).resolve().parents[2]
# What reads a run needs nothing else of ours, and stands so in a checkout and in a wheel.
PROGRAM = (
    *("stackcost/*.py", "stackcost/files/published/*.yaml"),
    *(f"stackcost/{part}/**/*.py" for part in ("contracts", "host", "store", "analysis", "report")),
)


def basis_of(run: RunFolder) -> str:
    """Digest of what a run's answer is computed from now."""
    digest = sha256(_program())
    for path in run.stored_files():
        stat = path.stat()
        digest.update(f"{path.name} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def stored_answer(run: RunFolder) -> "AnySummary | None":
    """The answer in a run's folder; None when there is none, or none that is fresh and whole."""
    try:
        stored = run.summary()
        if stored.get("basis") != basis_of(run):
            return None
        return _form(kind_of(run.manifest())).model_validate(stored)
    except (StackcostError, ValidationError, ValueError, TypeError):
        return None


def _form(kind: MeasuredKind) -> "type[AnySummary]":
    if kind == "events":
        from stackcost.analysis.events.summary import EventSummary

        return EventSummary
    return CeilingSummary if kind == "ceilings" else Summary


def _program() -> bytes:
    digest = sha256()
    for path in sorted(path for pattern in PROGRAM for path in SUITE.glob(pattern)):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(SUITE)} {len(content)}\n".encode() + content)
    return digest.digest()
