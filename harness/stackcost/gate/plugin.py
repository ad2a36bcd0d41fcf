"""The pytest plugin, which pytest finds by the entry point `stackcost`.

    def test_front_end_cps(cps_ceiling):
        cps_ceiling("experiments/nginx_kernel.yaml").not_below_baseline(tolerance=0.03)

Nothing but pytest is imported until a test uses the fixture.
"""

import sys
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest

if TYPE_CHECKING:
    from stackcost.gate.figure import Figure
    from stackcost.gate.gate import Gate, GateResult, MeasuringMachine

FOLDER = "stackcost-gate"  # below pytest's root folder; holds baselines and history, to commit
FIXTURE = "cps_ceiling"
MARKER = "stackcost"
PROPERTY = "stackcost"
ERROR = "error"
SKIPPED = ("cannot tell", "no baseline")
OUTCOMES = {  # in the last line
    "holds": "held",
    "below": "fell",
    "cannot tell": "could not tell",
    "no baseline": "had no baseline",
    "baseline written": "wrote a baseline",
    ERROR: "error",
}
Made = TypeVar("Made")
Record = Callable[[str, object], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the gate."""
    group = parser.getgroup("stackcost", "rates of connections per second")
    group.addoption(
        "--stackcost-update-baseline",
        action="store_true",
        help="measure new baselines instead of comparing with the old ones",
    )
    group.addoption("--stackcost-quick", action="store_true", help="fewer trials")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker, so that --strict-markers knows it."""
    config.addinivalue_line(
        "markers", f"{MARKER}: the test measures on the test bed (it uses {FIXTURE})"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests that measure; with `pytest-xdist --dist loadgroup` one worker runs them."""
    for item in items:
        if FIXTURE in getattr(item, "fixturenames", ()):
            item.add_marker(MARKER)
            if config.pluginmanager.hasplugin("xdist"):
                item.add_marker(pytest.mark.xdist_group(MARKER))


def _or_fail(do: "Callable[[], Made]", record: Record) -> "Made":
    """Return the result of `do`. A StackcostError fails the test without a traceback; `record`
    gets it for the lines at the end.
    """
    from stackcost.contracts.errors import StackcostError

    try:
        return do()
    except StackcostError as error:
        record(PROPERTY, error.what.splitlines()[0])
        record(f"{PROPERTY}_outcome", ERROR)
        message = f"{error.what}\nhint: {error.hint or 'see above'}"
    pytest.fail(message, pytrace=False)


class RateAssertion:
    """The assertions that a test can make about a system's rate of connections."""

    def __init__(self, gate: "Gate", update: bool, record: Record):
        self._gate = gate
        self._update = update
        self._record = record

    def not_below_baseline(self, tolerance: float = 0.03) -> None:
        """Fail if the rate is below this machine's baseline by more than `tolerance`.

        The test is skipped, with the reason, if this machine has no baseline or the trials do not
        decide.
        """
        if not 0 <= tolerance < 1:
            raise ValueError(
                f"tolerance must be a share of the baseline, such as 0.03; it is {tolerance}"
            )
        if self._update:
            self._end(self._gate.write_baseline)
        else:
            self._end(lambda: self._gate.not_below_baseline(tolerance))

    def at_least(self, rate: float) -> None:
        """Fail if the rate is below this number of connections/s; skip if it is unclear."""
        if rate <= 0:
            raise ValueError(f"rate must be more than 0 connections/s; it is {rate}")
        self._end(lambda: self._gate.at_least(rate))

    def _end(self, measure: "Callable[[], GateResult]") -> None:
        result = _or_fail(measure, self._record)
        self._record(PROPERTY, result.sentence)
        self._record(f"{PROPERTY}_outcome", result.outcome)
        if result.verdict:
            self._record(f"{PROPERTY}_cps", result.verdict.seen.median)
            self._record(f"{PROPERTY}_ratio", round(result.verdict.ratio, 5))
        if result.folder:
            self._record(f"{PROPERTY}_run", result.folder)
        if result.outcome == "below":
            pytest.fail(result.text, pytrace=False)
        if result.outcome in SKIPPED:
            pytest.skip(result.sentence)


@pytest.fixture(scope="session")
def stackcost_machine(request: pytest.FixtureRequest) -> "MeasuringMachine":
    """The machine that measures: this one. Override this fixture to measure on another machine."""
    from stackcost.gate.this_machine import ThisMachine

    return ThisMachine(request.config.rootpath / "results", sys.argv)


@pytest.fixture
def cps_ceiling(
    request: pytest.FixtureRequest, stackcost_machine: "MeasuringMachine"
) -> Callable[..., RateAssertion]:
    """`cps_ceiling(file, system="", figure="rate for whole cores")`: a system's rate.

    `file`: relative to pytest's root folder. `system`: needed if the file has several systems; the
    name is the one that `stackcost show` prints. `figure`: "rate for whole cores", what the time of
    the server's cores would allow; or "ceiling", the highest load that a search finds to be held.
    """
    from stackcost.gate.figure import FIGURES, WHOLE_CORES
    from stackcost.gate.gate import Gate, effort
    from stackcost.gate.this_machine import target_of

    config = request.config

    def record(name: str, value: object) -> None:
        # Like pytest's record_property, which warns about JUnit's xunit2 family though it works.
        request.node.user_properties.append((name, value))

    def say(line: str) -> None:
        # Before the test ends, which takes minutes: past pytest's capturing. What a worker of
        # xdist reports is lost, but its standard error output is the user's.
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        capturing = config.pluginmanager.get_plugin("capturemanager")
        with capturing.global_and_fixture_disabled() if capturing else nullcontext():
            if hasattr(config, "workerinput"):
                print(f"stackcost: {line}", file=sys.stderr, flush=True)
            elif reporter:
                reporter.ensure_newline()
                reporter.write_line(f"stackcost: {line}")

    def rate_of(
        file: str | Path, system: str = "", figure: "Figure" = WHOLE_CORES
    ) -> RateAssertion:
        if figure not in FIGURES:
            raise ValueError(f"figure must be one of {', '.join(FIGURES)}; it is {figure!r}")
        target = _or_fail(lambda: target_of(config.rootpath / file, system), record)
        gate = Gate(
            Path(file).stem,
            target,
            figure,
            stackcost_machine,
            config.rootpath / FOLDER,
            effort(figure, bool(config.getoption("--stackcost-quick"))),
            request.node.nodeid,
            say,
        )
        update = bool(config.getoption("--stackcost-update-baseline"))
        return RateAssertion(gate, update, record)

    return rate_of


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print one line for each gate, and how many had which outcome."""
    told = [
        dict(report.user_properties)
        for result in ("passed", "failed", "skipped")
        for report in terminalreporter.getreports(result)
        if report.when == "call" and PROPERTY in dict(report.user_properties)
    ]
    if not told:
        return
    terminalreporter.section("stackcost")
    for each in told:
        terminalreporter.write_line(str(each[PROPERTY]))
    counts = Counter(str(each[f"{PROPERTY}_outcome"]) for each in told)
    parts = [f"{counts[outcome]} {words}" for outcome, words in OUTCOMES.items() if counts[outcome]]
    if counts[ERROR] > 1:
        parts[-1] += "s"
    terminalreporter.write_line(f"stackcost: {', '.join(parts)}")
