"""A path of a user's own, by one file outside of the repository, and its known cost."""

from pathlib import Path
from statistics import median

import pytest

from stackcost.analysis import flows
from stackcost.analysis.core_time import sum_of
from stackcost.analysis.cpu import server_cost
from stackcost.harness.experiment.load_file import load_experiment
from stackcost.harness.session.profile_session import ProfileSession
from stackcost.harness.systems.registry import server_class
from tests.duts.bed import DEVICE_CPUS, load_trial, session_of
from tests.duts.test_proxies import NGINX

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
BURN = "BURN_US / 1e6"
# Wide, because neighbours slow the cores of a shared machine; a second cost in it is off by more.
BURNED_US, WITHIN = 1_000, 0.3


def own_file(folder: Path) -> Path:
    """A copy of the example outside of the repository; it reads what it takes from a file."""
    text, burn = (EXAMPLES / "path.py").read_text(), folder / "burn_s"
    assert BURN in text
    burn.write_text("0")
    path = folder / "mine.py"
    path.write_text(text.replace(BURN, f"float(open({str(burn)!r}).read())"))
    return path


def microseconds(session: ProfileSession) -> float:
    """Its programs' time for each connection."""
    seen = load_trial(session, 200, 2.0)
    assert seen.trial.load.server_requests == flows.completed(seen.trial) > 0
    cost = server_cost(seen, DEVICE_CPUS)
    return sum_of([cost["user"], cost["system"]]) or 0.0


@pytest.mark.bed
def test_a_proxy_that_takes_1_ms_of_cpu_for_each_connection_is_found_to(tmp_path: Path) -> None:
    """The difference to the same proxy without it; what other programs disturbed is repeated."""
    path, found = own_file(tmp_path), []
    with session_of(server_class(str(path)), tmp_path, NGINX) as session:  # type: ignore[arg-type]
        assert session.here.server.name == "mine"
        for _attempt in range(5):
            costs = []
            for seconds in (0, BURNED_US / 1e6):
                (tmp_path / "burn_s").write_text(str(seconds))
                costs.append(microseconds(session))
            found.append(costs[1] - costs[0])
            if abs(median(found) - BURNED_US) <= BURNED_US * WITHIN:
                break
    assert median(found) == pytest.approx(BURNED_US, rel=WITHIN), found


def test_the_example_is_an_experiment_beside_the_suites_own_paths() -> None:
    experiment = load_experiment(EXAMPLES / "path.yaml", True)
    assert server_class(experiment.servers[-1]).name == "path"
    assert experiment.dut.server == "nginx"
