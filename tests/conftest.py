"""Hooks for all tests."""

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print why each test failed that then passed at its second try.

    pytest-rerunfailures names such a test only. Without the reason, a rare fault stays unknown.
    """
    for report in terminalreporter.getreports("rerun"):
        terminalreporter.section(f"first try of {report.nodeid}")
        terminalreporter.write_line(report.longreprtext)
