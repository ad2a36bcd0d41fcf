"""What the gates of one run of pytest told: a line for each, their number, and the exit code."""

from collections import Counter

import pytest

PROPERTY = "stackcost"
IS_GATE = "stackcost_gate"  # attribute of a report: its test uses the fixture
ERROR = "error"
NOT_RUN = "not run"  # the test ended before it measured, for example by a marker
UNDECIDED = ("cannot tell", "no baseline")
DONE = ("holds", "below", "above", "baseline written")
OUTCOMES = {  # in the last line
    "holds": "held",
    "below": "fell",
    "above": "rose",
    "cannot tell": "could not tell",
    "no baseline": "had no baseline",
    "baseline written": "wrote a baseline",
    NOT_RUN: "not run",
    ERROR: "error",
}
NOTHING = "nothing was judged"


class PytestSummary:
    """A plugin that keeps what gates tell, and says it at the end.

    `strict`: a run in which nothing was judged ends with 1, even if none failed: all gates were
    left out by markers, or no test with one was selected.
    """

    def __init__(self, strict: bool):
        self._strict = strict
        self._told: dict[str, tuple[str, str]] = {}  # by test: sentence, outcome

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what a gate told in its properties, or that it did not come to that."""
        if not getattr(report, IS_GATE, False) or report.when == "teardown":
            return
        said = dict(report.user_properties)
        if PROPERTY in said:
            outcome = str(said[f"{PROPERTY}_outcome"])
            self._told[report.nodeid] = str(said[PROPERTY]), outcome
        elif report.when == "call" or not report.passed:
            outcome = ERROR if report.failed else NOT_RUN
            self._told[report.nodeid] = f"{report.nodeid}: {outcome}", outcome

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """A strict run that judged nothing does not end as one that passed."""
        passed = exitstatus == pytest.ExitCode.OK and not session.config.option.collectonly
        if self._strict and passed and not self._judged():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print a line for each gate, and how many had which outcome."""
        if not (self._told or self._strict):
            return
        terminalreporter.section("stackcost")
        for sentence, _ in self._told.values():
            terminalreporter.write_line(sentence)
        terminalreporter.write_line(f"stackcost: {self.counts()}")

    def counts(self) -> str:
        """Such as "3 held, 1 fell, 2 had no baseline"."""
        of = Counter(outcome for _, outcome in self._told.values())
        parts = [f"{of[outcome]} {words}" for outcome, words in OUTCOMES.items() if of[outcome]]
        if of[ERROR] > 1:
            parts[-1] += "s"
        return ", ".join(parts) if self._judged() else f"{', '.join(parts)} ({NOTHING})".lstrip()

    def _judged(self) -> bool:
        return any(outcome in DONE for _, outcome in self._told.values())
