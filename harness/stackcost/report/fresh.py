"""Decides whether stored results are still current, without computing them again.

Results depend only on the program and on a run's stored files, so they contain the digest of
both (`stackcost.report.basis`).
"""

from typing import TYPE_CHECKING, TypeAlias

from pydantic import ValidationError

from stackcost.analysis.ceiling.summary import CeilingSummary
from stackcost.analysis.summary import Summary
from stackcost.contracts.errors import StackcostError
from stackcost.report.basis import basis_of
from stackcost.report.stored import MeasuredKind, kind_of
from stackcost.store import RunFolder

if TYPE_CHECKING:
    from stackcost.analysis.events.summary import EventSummary

AnySummary: TypeAlias = "Summary | CeilingSummary | EventSummary"


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
