"""Notebooks on tests of HTTP clients, each on results that it is for."""

import re
from typing import Any

import nbformat
import pytest

from harness.analysis.summary import Summary
from harness.report import opened
from harness.report import show as showing
from harness.report.notebook import NOTEBOOKS
from tests.analysis.http_trials import asked, cached, summary


class Opened:
    """Runs as a notebook opens them."""

    def __init__(self, *summaries: Summary):
        self.summaries = list(summaries)


def shown(name: str, results: Summary, patch: pytest.MonkeyPatch) -> list[str]:
    """What a notebook shows, cell by cell."""
    outputs: list[str] = []
    space: dict[str, Any] = {}
    patch.setattr(showing, "display", lambda thing: outputs.append(thing.data))
    patch.setattr(opened, "open_runs", lambda runs: Opened(results))
    for cell in nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4).cells:
        if cell.cell_type == "code":
            exec(cell.source, space)
    return outputs


def test_past_the_ceiling_the_answer_comes_first_and_the_plot_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    results = summary(
        asked("h2load", 100, "rates", 1000, 1000), asked("h2load", 100, "rates", 4000, 1500)
    )
    answer, plot, *tables = shown("past_ceiling", results, monkeypatch)
    assert answer.startswith("**haproxy/kernel, offered 4,000") and "<svg" in plot
    assert len(tables) == 2 and "due and not answered" in tables[0]


def test_a_cache_says_how_long_its_event_loop_was_blocked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer, table = shown("disk_cache", summary(cached()), monkeypatch)
    assert re.match(r"\*\*Time for which the event loop was blocked. mix: .* 3.00%", answer)
    assert "not measured: it lacks a device" in table
