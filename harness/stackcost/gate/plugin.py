"""The pytest plugin, which pytest finds by the entry point `stackcost`.

    def test_front_end_cps(cps_ceiling):
        cps_ceiling("experiments/nginx_kernel.yaml").not_below_baseline(tolerance=0.03)

No library but pytest is imported until a test uses the fixture.
"""

import sys
from collections.abc import Callable, Generator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest

from stackcost.gate.pytest_summary import ERROR, IS_GATE, PROPERTY, UNDECIDED, PytestSummary

if TYPE_CHECKING:
    from stackcost.gate.figure import Judged
    from stackcost.gate.gate import Gate, GateResult
    from stackcost.gate.measure import ThisMachine

FOLDER = "stackcost-gate"  # below pytest's root folder; holds baselines and history, to commit
FIXTURE = "cps_ceiling"
FIXTURES = (FIXTURE, "cost_ceiling")
MARKER = "stackcost"
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
    group.addoption(
        "--stackcost-strict",
        action="store_true",
        help="for CI: fail where there is no baseline or the trials cannot tell, instead of"
        " skipping; end with 1 if nothing was judged",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker, so that --strict-markers knows it."""
    config.addinivalue_line(
        "markers", f"{MARKER}: the test measures (it uses {' or '.join(FIXTURES)})"
    )
    if not hasattr(config, "workerinput"):  # the reports of xdist's workers come here
        config.pluginmanager.register(
            PytestSummary(strict=bool(config.getoption("--stackcost-strict")))
        )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests that measure; with `pytest-xdist --dist loadgroup` one worker runs them."""
    for item in items:
        if _measures(item):
            item.add_marker(MARKER)
            if config.pluginmanager.hasplugin("xdist"):
                item.add_marker(pytest.mark.xdist_group(MARKER))


def _measures(item: pytest.Item) -> bool:
    return any(each in getattr(item, "fixturenames", ()) for each in FIXTURES)


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


class _Assertion:
    """What a test can assert of a system's figure."""

    def __init__(self, gate: "Gate", config: pytest.Config, record: Record):
        self._gate, self._record = gate, record
        self._update = bool(config.getoption("--stackcost-update-baseline"))
        self._strict = bool(config.getoption("--stackcost-strict"))

    def _against_baseline(self, tolerance: float) -> None:
        """Compare with the baseline, or write one where that is asked for."""
        if not 0 <= tolerance < 1:
            raise ValueError(
                f"tolerance must be a share of the baseline, such as 0.03; it is {tolerance}"
            )
        if self._update:
            self._end(self._gate.write_baseline, undecided_fails=True)
        else:
            self._end(lambda: self._gate.against_baseline(tolerance), self._strict)

    def _end(self, measure: "Callable[[], GateResult]", undecided_fails: bool) -> None:
        result = _or_fail(measure, self._record)
        self._record(PROPERTY, result.sentence)
        for name, value in _properties(self._gate.figure, result).items():
            if value not in (None, ""):
                self._record(f"{PROPERTY}_{name}", value)
        if result.outcome in ("below", "above"):
            pytest.fail(result.text, pytrace=False)
        if result.outcome in UNDECIDED:
            if undecided_fails:
                pytest.fail(result.text, pytrace=False)
            pytest.skip(result.sentence)


class RateAssertion(_Assertion):
    """The assertions that a test can make about a system's rate of connections."""

    def not_below_baseline(self, tolerance: float = 0.03) -> None:
        """Fail if the rate is below this machine's baseline by more than `tolerance`.

        The test is skipped, with the reason, if this machine has no baseline or the trials do not
        decide; with --stackcost-strict it fails. It fails, too, if a baseline was to be
        written and could not be.
        """
        self._against_baseline(tolerance)

    def at_least(self, rate: float) -> None:
        """Fail if the rate is below this number of connections/s.

        If it is unclear, the test is skipped; with --stackcost-strict it fails.
        """
        if rate <= 0:
            raise ValueError(f"rate must be more than 0 connections/s; it is {rate}")
        self._end(lambda: self._gate.at_least(rate), self._strict)


class CostAssertion(_Assertion):
    """The assertions that a test can make about a system's instructions per connection."""

    def not_above_baseline(self, tolerance: float = 0.01) -> None:
        """Fail if a connection costs more instructions than the baseline by more than `tolerance`.

        The test is skipped if there is no baseline; with --stackcost-strict it fails.
        """
        self._against_baseline(tolerance)


Assertion = TypeVar("Assertion", bound=_Assertion)


def _properties(figure: "Judged", result: "GateResult") -> dict[str, object]:
    """What JUnit's properties say of a gate, by name; docs/gate.md defines each."""
    found: dict[str, object] = {"outcome": result.outcome, "figure": figure.title}
    if verdict := result.verdict:
        compared = verdict.compared
        found |= {figure.short: compared.b.median, f"wanted_{figure.short}": compared.a.median}
        for name in ("ratio", "low", "high"):
            value = getattr(compared, name)
            key = "ratio" if name == "ratio" else f"ratio_{name}"
            found[key] = None if value is None else round(value, 5)
        found["floor"] = round(verdict.limit, 5)
    return found | {"baseline": result.baseline, "run": result.run}


@pytest.fixture(scope="session")
def stackcost_machine(request: pytest.FixtureRequest) -> "ThisMachine":
    """The machine that measures: this one. Override this fixture to measure on another machine."""
    from stackcost.gate.measure import ThisMachine

    return ThisMachine(request.config.rootpath / "results", sys.argv)


def _say(config: pytest.Config) -> Callable[[str], None]:
    """Prints a line before the test ends, which takes minutes: past pytest's capturing."""

    def say(line: str) -> None:
        # What a worker of xdist reports is lost, but its standard error output is the user's.
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        capturing = config.pluginmanager.get_plugin("capturemanager")
        with capturing.global_and_fixture_disabled() if capturing else nullcontext():
            if hasattr(config, "workerinput"):
                print(f"stackcost: {line}", file=sys.stderr, flush=True)
            elif reporter:
                reporter.ensure_newline()
                reporter.write_line(f"stackcost: {line}")

    return say


def _assertion(
    kind: type[Assertion],
    request: pytest.FixtureRequest,
    machine: "ThisMachine",
    figure: "Judged",
    file: str | Path,
    system: str,
) -> Assertion:
    """Of a system's figure; the test fails if the file has no such system."""
    from stackcost.experiment.read_file import experiment_file
    from stackcost.gate.gate import Gate
    from stackcost.gate.measure import target_of

    config = request.config

    def record(name: str, value: object) -> None:
        # pytest's record_property would warn about JUnit's xunit2 family, though it works.
        request.node.user_properties.append((name, value))

    def gate() -> Gate:
        path = experiment_file(Path(file), config.rootpath)
        quick = config.getoption("--stackcost-quick")
        return Gate(
            experiment=Path(file).stem,
            target=target_of(path, system, figure.counted),
            figure=figure,
            machine=machine,
            folder=config.rootpath / FOLDER,
            checkpoints=figure.quick if quick else figure.checkpoints,
            test=request.node.nodeid,
            say=_say(config),
        )

    return kind(_or_fail(gate, record), config, record)


@pytest.fixture
def cps_ceiling(
    request: pytest.FixtureRequest, stackcost_machine: "ThisMachine"
) -> Callable[..., RateAssertion]:
    """`cps_ceiling(file, system="", figure="rate for whole cores")`: a system's rate.

    `file`: relative to pytest's root folder, or a built-in experiment's name. `system`: needed if
    the file has several systems; the name is the one that `stackcost show` prints. `figure`: "rate
    for whole cores", what the time of the server's cores would allow; or "ceiling", the highest
    load that a search finds to be held.
    """
    from stackcost.gate.figure import RATES, WHOLE_CORES

    def rate_of(
        file: str | Path, system: str = "", figure: str = WHOLE_CORES.title
    ) -> RateAssertion:
        if figure not in RATES:
            raise ValueError(f"figure must be one of {', '.join(RATES)}; it is {figure!r}")
        of = stackcost_machine, RATES[figure], file, system
        return _assertion(RateAssertion, request, *of)

    return rate_of


@pytest.fixture
def cost_ceiling(
    request: pytest.FixtureRequest, stackcost_machine: "ThisMachine"
) -> Callable[..., CostAssertion]:
    """`cost_ceiling(file, system="")`: a system's instructions per connection, counted.

    `file`, `system`: as of `cps_ceiling`. Needs QEMU, and neither root nor a quiet machine.
    """
    from stackcost.gate.figure import COST

    def cost_of(file: str | Path, system: str = "") -> CostAssertion:
        return _assertion(CostAssertion, request, stackcost_machine, COST, file, system)

    return cost_of


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Mark the reports of gates; workers of xdist hand on reports, and not items."""
    report = yield
    setattr(report, IS_GATE, _measures(item))
    return report
