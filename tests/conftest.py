"""Hooks and fixtures for all tests."""

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def _files_that_need_not_outlive_a_power_cut() -> Iterator[None]:
    """What a test stores in this process waits for no disk: a run has four syncs for each trial.

    That each is made where it has to be is what tests/store/test_power_cut.py looks at.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print why each test failed that then passed at its second try.

    pytest-rerunfailures names such a test only. Without the reason, a rare fault stays unknown.
    """
    for report in terminalreporter.getreports("rerun"):
        terminalreporter.section(f"first try of {report.nodeid}")
        terminalreporter.write_line(report.longreprtext)
