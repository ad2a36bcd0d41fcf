"""The steps of docs/adding-a-server.md on the real bed, in a folder outside the suite."""

import shutil
from pathlib import Path

import pytest

from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.checks import checks
from stackcost.bed.lock import RunLock
from stackcost.bed.network import existing_namespaces
from stackcost.gate.figure import WHOLE_CORES
from stackcost.gate.measure import ThisMachine, target_of
from stackcost.report.results.stored import summary_of
from stackcost.store import RunFolder
from tests.experiment.command import REPOSITORY, run_folder, start

pytestmark = pytest.mark.bed
EXAMPLES = REPOSITORY / "examples"


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    """HAProxy alone, in a folder of its user's."""
    shutil.copy(EXAMPLES / "haproxy.py", tmp_path)
    text = (EXAMPLES / "haproxy.yaml").read_text()
    text = text.replace("[nginx/kernel, haproxy.py]", "[./haproxy.py]")
    path = tmp_path / "mine.yaml"
    path.write_text(text.replace("baseline: nginx/kernel", "baseline: haproxy"))
    return path


@pytest.mark.long
def test_a_server_of_the_user_is_measured_counted_and_reported(
    experiment: Path, tmp_path: Path
) -> None:
    results = tmp_path / "results"
    process = start(["run", str(experiment), "--quick", "--results", str(results)])
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, output + errors
    run = run_folder(results)
    *_, loaded = (trial for trial in run.trials() if trial.offered_cps)
    held = {check.name.partition(" ")[0]: check.holds for check in checks(Readings(loaded, [1]))}
    assert held["requests"] and held["received"] and loaded.response_bytes == 2000
    (server,) = summary_of(run).servers
    assert server.name == "haproxy" and server.levels[0]["completed_cps"].median > 0
    assert "nbthread 1" in run.manifest().servers["haproxy"]["configuration"]
    assert "haproxy" in (run.path / "report.html").read_text()
    assert existing_namespaces() == []


@pytest.mark.long
def test_its_ceiling_is_what_the_gate_measures(experiment: Path, tmp_path: Path) -> None:
    machine = ThisMachine(tmp_path / "gate", ["test"])
    with RunLock(60), machine.open(target_of(experiment), WHOLE_CORES, 30_000) as bench:
        figures = bench.measure().figures
    assert 0 < figures["whole_cores_rate"] == figures["completed_cps"] < 30_000
    assert RunFolder.open(bench.folder.path).manifest().state == "complete"


def test_one_that_does_not_start_is_reported_in_its_own_words(
    experiment: Path, tmp_path: Path
) -> None:
    server = tmp_path / "haproxy.py"
    server.write_text(server.read_text().replace("mode http", "mode nonsense"))
    process = start(["run", str(experiment), "--quick", "--results", str(tmp_path / "results")])
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1 and "Traceback" not in errors
    assert "haproxy ended with exit status 1" in errors and "nonsense" in errors
    assert len(errors.splitlines()) <= 2
    assert existing_namespaces() == []
    assert not list((tmp_path / "results").iterdir()), "a run without any trial leaves no folder"
