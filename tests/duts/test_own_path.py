"""A path of a user's own, by one file outside of the repository, and its known cost."""

from pathlib import Path

import pytest

from stackcost.analysis import flows
from stackcost.analysis.core_time import sum_of
from stackcost.analysis.cpu import server_cost
from stackcost.harness.experiment.load_file import load_experiment
from stackcost.harness.session.profile_session import ProfileSession
from stackcost.harness.session.server_settings import server_settings
from stackcost.harness.systems.registry import server_class
from tests.duts.bed import DEVICE_CPUS, load_trial, session_of
from tests.duts.test_proxies import NGINX

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
BURN = "BURN_US = 1_000"
WITHIN = 0.05


def own_file(folder: Path, burn_us: int) -> str:
    """A copy of the example outside of the repository, which takes so much CPU."""
    text = (EXAMPLES / "path.py").read_text()
    assert BURN in text
    path = folder / f"burns_{burn_us}.py"
    path.write_text(text.replace(BURN, f"BURN_US = {burn_us}"))
    return str(path)


def microseconds(session: ProfileSession) -> float:
    """Its programs' time for each connection."""
    seen = load_trial(session, 200, 2.0)
    assert seen.trial.load.server_requests == flows.completed(seen.trial) > 0
    cost = server_cost(seen, DEVICE_CPUS)
    return sum_of([cost["user"], cost["system"]]) or 0.0


@pytest.mark.bed
def test_a_proxy_that_takes_1_ms_of_cpu_for_each_connection_is_found_to(tmp_path: Path) -> None:
    """The difference between the same proxy with and without it; a disturbed one is repeated."""
    with session_of(server_class(own_file(tmp_path, 0)), tmp_path, NGINX) as session:  # type: ignore[arg-type]
        idle, burning = session.server, server_class(own_file(tmp_path, 1_000))
        assert idle.name == "burns_0"
        for _attempt in range(3):
            without = microseconds(session)
            session.server.stop()
            settings = server_settings(NGINX, burning)
            session.server = burning.make(session.bed.endpoint(session.folder), settings)
            session.server.start()
            session.processes |= session.server.processes()
            found = microseconds(session) - without
            if abs(found - 1_000) <= 1_000 * WITHIN:
                break
            session.server.stop()
            session.server = idle
            idle.start()
    assert found == pytest.approx(1_000, rel=WITHIN)


def test_the_example_is_an_experiment_beside_the_suites_own_paths() -> None:
    experiment = load_experiment(EXAMPLES / "path.yaml", True)
    assert server_class(experiment.servers[-1]).name == "path"
    assert experiment.dut.server == "nginx"
