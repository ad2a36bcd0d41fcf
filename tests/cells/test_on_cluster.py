"""Eight cells over two workers of a dask cluster, with TLS; one worker is killed meanwhile."""

import os
import subprocess
from collections.abc import Iterator

import pytest

from stackcost.host.waiting import wait_until
from stackcost.store import RunFolder
from tests.cells.two_beds import bed, plan, records
from tests.hosts.lab import Lab
from tests.hosts.test_on_bed import STACKCOST

# Only what hangs takes as long: eight cells take some four minutes on two cores, and beside
# compilers several times as long, which is no failure.
HUNG_S = 1200
pytestmark = [pytest.mark.bed, pytest.mark.long, pytest.mark.timeout(3 * HUNG_S)]
SCHEDULER = "tls://127.0.0.1:8786"
MEASURING = "stackcost.runs.cells.measure"


@pytest.fixture(scope="module")
def environment(lab: Lab) -> dict[str, str]:
    """With a certificate that scheduler, workers and clients of the cluster all have."""
    key, certificate = str(lab.folder / "key.pem"), str(lab.folder / "certificate.pem")
    make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
    files = ["-subj", "/CN=beds", "-keyout", key, "-out", certificate]
    subprocess.run([*make.split(), *files], check=True, capture_output=True)
    tls = {"CA_FILE": certificate}
    for role in ("SCHEDULER", "WORKER", "CLIENT"):
        tls |= {f"{role}__CERT": certificate, f"{role}__KEY": key}
    return dict(os.environ) | {
        f"DASK_DISTRIBUTED__COMM__TLS__{name}": path for name, path in tls.items()
    }


@pytest.fixture(scope="module")
def scheduler(lab: Lab, environment: dict[str, str]) -> Iterator[None]:
    command = [STACKCOST.replace("stackcost", "dask"), "scheduler", "--protocol", "tls"]
    command += ["--host", "127.0.0.1", "--port", "8786", "--no-dashboard", "--no-show"]
    started = lab.c.start(command, env=environment, stderr=subprocess.DEVNULL)
    yield
    started.terminate()
    started.wait(HUNG_S)


def measuring(lab: Lab, worker: "subprocess.Popen[str]") -> bool:
    """Whether a worker measures a cell."""
    children = lab.c.run(["pgrep", "-P", str(worker.pid), "-f", MEASURING])
    return children.returncode == 0


def measured_on(lab: Lab, bed: str) -> int:
    """Cells that this bed has measured so far."""
    return sum(each["bed"] == bed for each in records(lab))


def test_a_killed_worker_s_cell_is_measured_elsewhere_once(
    lab: Lab, environment: dict[str, str], scheduler: None
) -> None:
    def start(*arguments: str) -> "subprocess.Popen[str]":
        command = [STACKCOST, *arguments, "--scheduler", SCHEDULER]
        return lab.c.start(command, stdout=subprocess.PIPE, text=True, env=environment)

    results = lab.folder / "results"
    wanted = [plan(lab, "one", timeout_factor=4), plan(lab, "two", title="again", timeout_factor=4)]
    run = start("distribute", *wanted, "--name", "cluster", "--results", str(results))
    assert run.stdout is not None
    assert any("waiting for a bed: " in line for line in iter(run.stdout.readline, ""))
    first, second = (start("worker", bed(lab, number)) for number in (1, 2))
    try:
        assert wait_until(lambda: measured_on(lab, "bed1") or run.poll() is not None, HUNG_S)
        assert wait_until(lambda: measuring(lab, first) or run.poll() is not None, HUNG_S)
        assert run.poll() is None, "it ended before a worker could be killed"
        first.kill()
        said, _ = run.communicate(timeout=HUNG_S)
    finally:
        for each in (first, second, run):
            each.terminate()
            each.wait(HUNG_S)
    assert run.returncode == 0, said
    assert said.endswith("8 cells: 8 measured, 0 not\n")
    found = records(lab)
    assert len({each["cell"] for each in found}) == len(found) == 8
    assert measured_on(lab, "bed1") < 8 == measured_on(lab, "bed1") + measured_on(lab, "bed2")
    for path in results.glob("*/cell.json"):
        folder = RunFolder(path.parent)
        assert folder.manifest().state == "complete"
        assert [each.offered_cps for each in folder.trials() if not each.set_aside] == [200]
    assert [path.name for path in (results / ".unfinished/cluster").iterdir()] == ["lock"]


def test_a_scheduler_without_tls_is_refused_beyond_loopback(lab: Lab) -> None:
    done = lab.c.run([STACKCOST, "worker", bed(lab, 1), "--scheduler", "tcp://10.99.0.9:8786"])
    assert done.returncode == 1
    assert "the scheduler tcp://10.99.0.9:8786 is not reached over TLS" in done.stderr
