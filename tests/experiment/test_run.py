"""The command line on the real test bed: small runs, and everything that can end one."""

import json
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import stackcost
from stackcost.analysis.summary import Summary
from stackcost.bed.network import existing_namespaces
from stackcost.contracts.load import HeldFlows
from stackcost.report.difference import Side, difference
from stackcost.report.library.export import table
from tests.experiment.command import (
    REPOSITORY,
    read_until,
    run_folder,
    short_compare,
    start,
)

TINY = """
rounds: 1
load: {offered_cps: [300], warm_up_s: 0.5, sustain_s: 1.5}
collectors: [context_switches.py]
memory: {open_flows: [0, 200], open_cps: 1000, settle_s: 0.2, read_s: 0.3}
"""


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both servers in seconds, read by a collector of the user's own as well."""
    folder = tmp_path_factory.mktemp("experiment")
    shutil.copy(REPOSITORY / "examples" / "context_switches.py", folder)
    return short_compare(folder, TINY)


@pytest.fixture
def ended() -> Iterator[list["subprocess.Popen[str]"]]:
    """Processes that a test starts, and that end with it."""
    started: list[subprocess.Popen[str]] = []
    yield started
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)


@pytest.mark.bed
def test_a_run_answers_for_both_servers_and_leaves_nothing(tiny: Path, tmp_path: Path) -> None:
    process = start(["run", str(tiny), "--quick", "--results", str(tmp_path)], report=True)
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    folder = run_folder(tmp_path)
    assert output.splitlines()[-1] == str(folder.path), "the run's folder is the last line"
    assert (folder.path / "report.html").stat().st_size > 10_000
    assert existing_namespaces() == []
    manifest = folder.manifest()
    assert manifest.state == "complete"
    in_force = manifest.test_bed["nginx/kernel"]["sysctls"]
    assert in_force["net.ipv4.tcp_congestion_control"] == "cubic", "as the tier asks"
    stored = [
        manifest.servers[name]["congestion_control"] for name in ("nginx/kernel", "astf-peer")
    ]
    assert stored == ["cubic", "NewReno"], "of who answers"
    for trial in folder.trials():
        if isinstance(trial.load, HeldFlows):
            assert trial.load.held_flows == trial.load.open_flows
            continue
        client = trial.load.client
        assert client["tcps_connattempt"] == client["tcps_connects"] == client["tcps_closed"] > 300
        assert client["tcps_rcvbyte"] == client["tcps_closed"] * trial.response_bytes
        assert trial.load.server_requests == client["tcps_closed"]
    summary = folder.summary()
    assert [server["name"] for server in summary["servers"]] == ["nginx/kernel", "astf-peer"]
    for server in summary["servers"]:
        assert server["levels"][0]["figures"]["server_cpu_total"]["median"] > 0
        memory = server["memories"]["established"]["figures"]
        assert memory["memory.total"]["median"] is not None
    kinds = summary["servers"][0]["levels"][0]["figures"]
    for kind in ("user", "system", "irq", "softirq"):
        assert kinds[f"server_cpu.{kind}"]["median"] is not None
    _own_figure_is_told_everywhere(folder.path, output)


def _own_figure_is_told_everywhere(run: Path, screen: str) -> None:
    """That of examples/context_switches.py, which is in no file of the suite's own."""
    name = "context_switches.voluntary"
    assert "Figures of your own collectors" in screen and name in screen
    report = (run / "report.html").read_text()
    assert name in report and "those that the scheduler forced" in report
    with (run / "summary.json").open() as file:
        summary = json.load(file)
    for server in summary["servers"]:
        assert server["levels"][0]["figures"][name]["median"] > 0
    exported = table(Summary.model_validate(summary)).set_index("figure").loc[name]
    assert set(exported["system"]) == {"nginx/kernel", "astf-peer"}
    assert set(exported["source"]) == {"/proc/PID/status *_ctxt_switches"}
    found = difference(Side.of(f"{run}#nginx/kernel"), Side.of("#astf-peer", run_of=str(run)))
    assert name in {each.figure for each in found.comparisons}
    assert name in set(stackcost.open(run).figures["figure"])


@pytest.mark.bed
def test_ctrl_c_keeps_what_was_measured_and_a_second_run_meanwhile_is_refused(
    tiny: Path, tmp_path: Path, ended: list["subprocess.Popen[str]"]
) -> None:
    results = str(tmp_path / "first")
    first = start(["run", str(tiny), "--quick", "--results", results])
    ended.append(first)
    read_until(first, "200 flows held open")
    second = start(["run", str(tiny), "--quick", "--results", str(tmp_path / "second")])
    _, errors = second.communicate(timeout=60)
    assert second.returncode == 1
    assert re.match(rf"stackcost: another run is active .*pid {first.pid}", errors)
    assert not (tmp_path / "second").exists(), "a refused run leaves no folder"

    first.send_signal(signal.SIGINT)
    output, errors = first.communicate(timeout=60)
    assert first.returncode == 130, errors
    folder = run_folder(tmp_path / "first")
    assert folder.manifest().state == "interrupted"
    assert len(folder.trials()) >= 2, "trials that were over, and the one cut short"
    assert output.splitlines()[-1] == str(folder.path)
    assert folder.summary()["state"] == "interrupted"
    assert existing_namespaces() == []
