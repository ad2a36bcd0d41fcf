"""Runs of HTTP clients on the real test bed: whole, and with a part killed in their midst."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from harness.store import RunFolder
from harness.testbed.network import existing_namespaces
from tests.experiment.test_run import read_until, run_folder, start

TINY = """
title: "tiny"
servers: [nginx/kernel]
baseline: nginx/kernel
against: nginx/kernel
rounds: 1
cores: auto
nginx: {tuning: cookbook, worker_connections: 256}
workload: {clients: 16.0.0.1-16.0.0.4, server: 48.0.0.1, port: 80}
http:
  program: wrk
  processes: 2
  connections: 4
  warm_up_s: 0.3
  sustain_s: 1
  tests:
    - {name: first, measures: requests, body_bytes: 1000}
    - {name: second, measures: connections, body_bytes: 0, tls: true}
    - {name: third, measures: latency, body_bytes: 1000, program: h2load, rates: [200]}
"""

pytestmark = pytest.mark.bed


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("experiment") / "tiny.yaml"
    path.write_text(TINY)
    return path


@pytest.fixture
def going(tiny: Path, tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """A run that has stored its first test and is in its second."""
    process = start(["run", str(tiny), "--results", str(tmp_path / "results")])
    try:
        read_until(process, ": second")
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)


def made(folder: RunFolder) -> list[str]:
    return [trial.load["test"] for trial in folder.trials() if not trial.set_aside]


def wait_for(run: "subprocess.Popen[str]", name: str) -> list[psutil.Process]:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        children = psutil.Process(run.pid).children(recursive=True)
        if found := [each for each in children if each.name() == name]:
            return found
        time.sleep(0.02)
    pytest.fail(f"{name} never ran")


@pytest.mark.parametrize(
    ("program", "told"),
    [("wrk", "wrk, client"), ("nginx", "nginx/kernel ended during the trial")],
)
def test_a_part_killed_in_mid_trial_is_named_and_the_run_goes_on(
    going: "subprocess.Popen[str]", tmp_path: Path, program: str, told: str
) -> None:
    for process in wait_for(going, program):
        process.kill()
    _, errors = going.communicate(timeout=60)
    assert going.returncode == 1 and "Traceback" not in errors and told in errors, errors
    assert existing_namespaces() == []
    folder = run_folder(tmp_path / "results")
    assert folder.manifest().state == "failed" and made(folder) == ["first"]
    again = start(["run", "--resume", str(folder.path)])
    _, errors = again.communicate(timeout=120)
    assert again.returncode == 0, errors
    assert made(folder) == ["first", "second", "third"]
    assert existing_namespaces() == []
    _is_whole(folder)


def test_a_killed_harness_takes_its_clients_with_it(
    going: "subprocess.Popen[str]", tmp_path: Path
) -> None:
    clients = wait_for(going, "wrk")
    os.kill(going.pid, signal.SIGKILL)
    going.communicate()
    _, alive = psutil.wait_procs(clients, timeout=10)
    assert not [each for each in alive if each.status() != psutil.STATUS_ZOMBIE]
    assert made(run_folder(tmp_path / "results")) == ["first"]
    assert existing_namespaces(), "a killed run cannot clean up"
    cleaned = start(["clean"])
    cleaned.communicate(timeout=60)
    assert existing_namespaces() == []
    assert "stackcost" not in Path("/proc/mounts").read_text(), "its files were in its own mount"


def _is_whole(folder: RunFolder) -> None:
    """Figures of every test, and both sides' counts agree."""
    summary = folder.summary()
    levels = {level["test"]: level for level in summary["servers"][0]["levels"]}
    assert levels["first"]["http"]["rate"]["median"] > 100
    assert levels["second"]["http"]["tls"] and levels["second"]["server_cpu_total"]["median"] > 0
    assert list(levels["third"]["latency"][""]) == ["request", "completion"]
    used = [row for row in summary["trials"] if not row["set_aside"]]
    counts = [c for row in used for c in row["checks"] if c["name"].startswith("requests by")]
    assert len(counts) == len(used) and all(check["holds"] for check in counts), counts
    assert 'id="http_tests"' in (folder.path / "report.html").read_text()
