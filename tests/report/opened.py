"""Runs as the notebooks read them, without a folder."""

from harness.analysis.summary import Summary
from harness.report.opened import OpenedCosts
from harness.store import Manifest


def opened_costs(summary: Summary) -> OpenedCosts:
    """A run at given loads, of which only the summary matters."""
    return OpenedCosts(Manifest(run=summary.run), summary)
