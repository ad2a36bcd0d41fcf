"""Runs as the notebooks read them, without a folder."""

from stackcost.analysis.summary import Summary
from stackcost.report.first_screen import first_screen
from stackcost.report.results.opened import AnySummary, OpenedCosts, OpenedRuns
from stackcost.store import Manifest


def first_text(summary: AnySummary) -> str:
    """What the first screen of its report says, without the figure."""
    runs = OpenedRuns()
    runs.add(Manifest(run=summary.run), summary)
    return "\n\n".join(part for part in first_screen(runs) if isinstance(part, str))


def opened(summary: Summary) -> OpenedRuns:
    """A run at given loads as a notebook opens it."""
    return OpenedRuns([opened_costs(summary)])


def opened_costs(summary: Summary) -> OpenedCosts:
    """A run at given loads, of which only the summary matters."""
    return OpenedCosts(Manifest(run=summary.run), summary)
