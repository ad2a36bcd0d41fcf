"""Notebooks on tests of HTTP clients, each on results that it is for."""

import re

from stackcost.analysis.summary import Summary
from stackcost.results.opened import OpenedCosts, OpenedRuns
from stackcost.store import Manifest
from tests.analysis.http_trials import asked, cached, summary
from tests.report.cells import shown


def opened(results: Summary) -> OpenedRuns:
    """A run as a notebook opens it."""
    return OpenedRuns([OpenedCosts(Manifest(run="test"), results)])


def test_past_the_ceiling_the_answer_comes_first_and_the_plot_next() -> None:
    results = summary(
        asked("h2load", 100, "rates", 1000, 1000), asked("h2load", 100, "rates", 4000, 1500)
    )
    answer, plot, *tables = shown("past_ceiling", opened(results))
    assert answer.startswith("**haproxy/kernel: 4,000") and "<svg" in plot
    assert len(tables) == 2 and "scheduled, not answered" in tables[0]


def test_a_cache_says_how_long_its_event_loop_was_blocked() -> None:
    answer, plot, table = shown("disk_cache", opened(summary(cached())))
    assert re.match(r"\*\*The event loop was blocked: mix: .* 3.00%", answer)
    assert "<svg" in plot and "event loop blocked" in plot
    assert "not measured: it lacks a device" in table
