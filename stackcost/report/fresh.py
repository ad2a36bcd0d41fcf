"""Decides whether stored results are still current, without computing them again.

Results depend only on the program and on a run's stored files, so they contain the digest of
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
    """Digest of the files from which a run's results are computed."""
    digest = sha256(_program())
    for path in run.stored_files():
        stat = path.stat()
        digest.update(f"{path.name} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def stored_answer(run: RunFolder) -> "AnySummary | None":
    """The stored results of a run; None if there are none, or they are not current or damaged."""
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
