"""The pytest plugin, which pytest finds by the entry point `stackcost`.

    def test_front_end_cps(cps_ceiling):
        cps_ceiling("experiments/nginx_kernel.yaml").not_below_baseline(tolerance=0.03)

Nothing but pytest is imported until a test uses the fixture.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest

if TYPE_CHECKING:
    from stackcost.harness.gate.gate import Gate, GateResult, MeasuringMachine

FOLDER = "stackcost-gate"  # below pytest's root: baselines and the history, to be committed
FIXTURE = "cps_ceiling"
MARKER = "stackcost"
PROPERTY = "stackcost"
SKIPPED = ("cannot tell", "no baseline")
Made = TypeVar("Made")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of their own group."""
    group = parser.getgroup("stackcost", "ceilings of connections per second")
    group.addoption(
        "--stackcost-update-baseline",
        action="store_true",
        help="measure baselines anew, in place of judging against them",
    )
    group.addoption("--stackcost-quick", action="store_true", help="fewer trials")


def pytest_configure(config: pytest.Config) -> None:
    """Markers are declared, so that --strict-markers knows them."""
    config.addinivalue_line(
        "markers", f"{MARKER}: measures on the test bed (every test that uses {FIXTURE})"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what measures; under `pytest-xdist --dist loadgroup` it goes to one worker."""
    for item in items:
        if FIXTURE in getattr(item, "fixturenames", ()):
            item.add_marker(MARKER)
            if config.pluginmanager.hasplugin("xdist"):
                item.add_marker(pytest.mark.xdist_group(MARKER))


def _or_fail(do: "Callable[[], Made]") -> "Made":
    """What `do` returns; what the user can fix fails the test with that alone, without a trace."""
    from stackcost.contracts.errors import StackcostError

    try:
        return do()
    except StackcostError as error:
        told = f"{error.what}\nhint: {error.hint or 'see above'}"
    pytest.fail(told, pytrace=False)


class CeilingAssertion:
    """What a test says of a set-up."""

    def __init__(self, gate: "Gate", update: bool, record: Callable[[str, object], None]):
        self._gate = gate
        self._update = update
        self._record = record

    def not_below_baseline(self, tolerance: float = 0.03) -> None:
        """Fail when the ceiling is below this machine's baseline by more than `tolerance`.

        Skipped, with the reason, when this machine has no baseline or the trials cannot tell.
        """
        if not 0 <= tolerance < 1:
            raise ValueError(f"tolerance is a share of the baseline such as 0.03, not {tolerance}")
        if self._update:
            self._end(self._gate.write_baseline)
        else:
            self._end(lambda: self._gate.not_below_baseline(tolerance))

    def at_least(self, ceiling: float) -> None:
        """Fail when the ceiling is below so many connections/s; skipped when they cannot tell."""
        if ceiling <= 0:
            raise ValueError(f"ceiling is a number of connections/s above 0, not {ceiling}")
        self._end(lambda: self._gate.at_least(ceiling))

    def _end(self, measure: "Callable[[], GateResult]") -> None:
        result = _or_fail(measure)
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
    """Where is measured: this machine. Whoever measures elsewhere overrides this fixture."""
    from stackcost.harness.gate.this_machine import ThisMachine

    return ThisMachine(request.config.rootpath / "results", sys.argv)


@pytest.fixture
def cps_ceiling(
    request: pytest.FixtureRequest, stackcost_machine: "MeasuringMachine"
) -> Callable[..., CeilingAssertion]:
    """`cps_ceiling(file, system="")`: the ceiling of an experiment file's (only) system.

    The file is relative to pytest's root; `system` names one of several, as `stackcost show` does.
    """
    from stackcost.harness.gate.gate import FULL, QUICK, Gate
    from stackcost.harness.gate.target import target_of

    config = request.config

    def record(name: str, value: object) -> None:
        # As pytest's record_property, which warns of JUnit's newer family though it works there.
        request.node.user_properties.append((name, value))

    def ceiling(file: str | Path, system: str = "") -> CeilingAssertion:
        target = _or_fail(lambda: target_of(config.rootpath / file, system))
        gate = Gate(
            Path(file).stem,
            target,
            stackcost_machine,
            config.rootpath / FOLDER,
            QUICK if config.getoption("--stackcost-quick") else FULL,
            request.node.nodeid,
        )
        update = bool(config.getoption("--stackcost-update-baseline"))
        return CeilingAssertion(gate, update, record)

    return ceiling


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line for each gate that passed; of the others pytest says why."""
    lines = [
        str(value)
        for report in terminalreporter.getreports("passed")
        for name, value in report.user_properties
        if name == PROPERTY and report.when == "call"
    ]
    if lines:
        terminalreporter.section("stackcost")
    for line in lines:
        terminalreporter.write_line(line)
