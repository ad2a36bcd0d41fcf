"""Runs of HTTP clients on the real test bed, with one part after the other killed in their midst.

Each run is gone on with after each kill: what it had is kept, and nothing else is left.
"""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from stackcost.bed.network import existing_namespaces
from stackcost.host.namespace import processes_inside
from stackcost.host.waiting import wait_until
from stackcost.store import RunFolder
from tests.experiment.command import clean, programs, read_until, run_folder, start

TINY = """
title: "tiny"
servers: [SERVER]
baseline: SERVER
against: SERVER
rounds: 1
cores: auto
server: {tuning: TIER, worker_connections: 256}
workload: {clients: 16.0.0.1-16.0.0.4, server: 48.0.0.1, port: 80}
http:
  program: wrk
  processes: 2
  connections: 4
  warm_up_s: 0.2
  sustain_s: 0.8
  tests:
    - {name: first, measures: requests, body_bytes: 1000}
    - {name: second, measures: connections, body_bytes: 0, tls: TLS}
    - {name: third, measures: latency, body_bytes: 1000, program: h2load, rates: [200]}
"""

pytestmark = [pytest.mark.bed, pytest.mark.long]


@contextmanager
def in_its_second_test(arguments: list[str]) -> Iterator["subprocess.Popen[str]"]:
    """A run whose first test is stored; its clients and all else of the second one are there."""
    process = start(arguments)
    try:
        read_until(process, ": second")
        wait_for(process, "wrk")
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)


def wait_for(run: "subprocess.Popen[str]", name: str) -> list[psutil.Process]:
    assert wait_until(lambda: programs(run, name), 30), f"{name} never ran"
    return programs(run, name)


@pytest.fixture
def begun(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[str]]:
    """Arguments that begin a run of the server in `param`; what it leaves is removed."""
    server, tier = request.param
    text = TINY.replace("SERVER", server).replace("TIER", tier)
    path = tmp_path / "tiny.yaml"
    path.write_text(text.replace("TLS", str(server == "nginx/kernel").lower()))
    yield ["run", str(path), "--results", str(tmp_path / "results")]
    clean()


def killed(arguments: list[str], results: Path, program: str, told: str) -> list[str]:
    """Kill a program in mid-trial: the run ends, names it, keeps its first test, leaves nothing.

    Returns how to go on, as the message has it.
    """
    with in_its_second_test(arguments) as run:
        for process in wait_for(run, program):
            process.kill()
        _, errors = run.communicate(timeout=60)
    assert run.returncode == 1 and "Traceback" not in errors and told in errors, errors
    assert existing_namespaces() == []
    folder = run_folder(results)
    assert folder.manifest().state == "failed" and made(folder) == ["first"]
    assert f"--resume {folder.path}" in errors
    return ["run", "--resume", str(folder.path)]


def killed_itself(arguments: list[str], results: Path) -> list[psutil.Process]:
    """Kill the harness in mid-trial: clients go with it. Returns what it could not end."""
    with in_its_second_test(arguments) as run:
        clients = wait_for(run, "wrk")
        os.kill(run.pid, signal.SIGKILL)
        run.communicate()
    _, alive = psutil.wait_procs(clients, timeout=10)
    assert not [each for each in alive if each.status() != psutil.STATUS_ZOMBIE]
    folder = run_folder(results)
    assert folder.manifest().state == "running" and made(folder) == ["first"]
    left = [each for name in existing_namespaces() for each in processes_inside(name)]
    assert left, "a killed run cannot clean up"
    return left


def made(folder: RunFolder) -> list[str]:
    return [trial.load.test for trial in folder.trials() if not trial.set_aside]


def ends_well(arguments: list[str], results: Path) -> None:
    """Gone on with, it makes what is missing; figures of every test, and counts agree."""
    run = start(arguments, report=True)
    _, errors = run.communicate(timeout=120)
    assert run.returncode == 0, errors
    assert existing_namespaces() == []
    folder = run_folder(results)
    assert made(folder) == ["first", "second", "third"]
    summary = folder.summary()
    levels = {level["test"]: level["figures"] for level in summary["servers"][0]["levels"]}
    assert levels["first"]["http.rate"]["median"] > 100
    assert levels["second"]["server_cpu_total"]["median"] > 0
    assert {"latency.request.p99", "latency.completion.p99"} <= levels["third"].keys()
    used = [row for row in summary["trials"] if not row["set_aside"]]
    counts = [
        c for row in used for c in row["checks"] if c["name"].startswith("requests counted by")
    ]
    assert len(counts) == len(used) and all(check["holds"] for check in counts), counts
    assert 'id="http_tests"' in (folder.path / "report.html").read_text()


@pytest.mark.parametrize("begun", [("nginx/kernel", "cookbook")], indirect=True)
def test_a_server_or_a_client_killed_in_mid_trial_is_named_and_what_was_over_is_kept(
    begun: list[str], tmp_path: Path
) -> None:
    results = tmp_path / "results"
    again = killed(begun, results, "nginx", "nginx/kernel has failed: its master")
    assert killed(again, results, "wrk", "(wrk)") == again


@pytest.mark.parametrize("begun", [("haproxy/kernel", "stock")], indirect=True)
def test_a_proxy_what_is_behind_it_or_the_harness_killed_and_the_run_goes_on(
    begun: list[str], tmp_path: Path
) -> None:
    results, ended = tmp_path / "results", "haproxy/kernel has failed: its"
    again = killed(begun, results, "haproxy", f"{ended} worker-0")
    assert killed(again, results, "nginx", f"{ended} backend-1050") == again
    left = killed_itself(again, results)
    ends_well(again, results)
    assert not [each for each in left if each.is_running()]


@pytest.mark.parametrize("begun", [("nginx-cache/kernel", "aio-threads")], indirect=True)
def test_a_killed_harness_leaves_no_program_mount_or_cache_once_it_is_cleaned_up(
    begun: list[str], tmp_path: Path
) -> None:
    left = killed_itself(begun, tmp_path / "results")
    assert list(tmp_path.rglob("cache/*")), "the files that would stay"
    clean()
    assert not [each for each in left if each.is_running()]
    assert existing_namespaces() == [] and not list(tmp_path.rglob("cache"))
    assert "stackcost" not in Path("/proc/mounts").read_text()
