"""Runs as the notebooks read them, without a folder."""

from stackcost.analysis.summary import Summary
from stackcost.report.opened import OpenedCosts
from stackcost.store import Manifest


def opened_costs(summary: Summary) -> OpenedCosts:
    """A run at given loads, of which only the summary matters."""
    return OpenedCosts(Manifest(run=summary.run), summary)
