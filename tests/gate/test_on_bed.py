"""One short round on the real test bed, as the gate measures it."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from stackcost.analysis.ceiling.summary import CeilingSummary
from stackcost.bed.lock import RunLock
from stackcost.bed.network import existing_namespaces
from stackcost.gate.baseline import setup_of
from stackcost.gate.figure import CEILING, WHOLE_CORES
from stackcost.gate.measure import ThisMachine, target_of
from stackcost.report.results.computed import computed
from stackcost.report.results.stored import summary_of
from stackcost.store import RunFolder
from tests.gate.test_plugin import INSTALLED, MODULE

FILE = Path(__file__).resolve().parents[2] / "experiments" / "nginx_kernel.yaml"
OVERLOAD_CPS = 30_000.0  # more than nginx on one core and this generator can do


@pytest.mark.bed
def test_a_saturated_server_is_measured_and_stored(tmp_path: Path) -> None:
    machine, target = ThisMachine(tmp_path, ["test"]), target_of(FILE)
    with RunLock(60), machine.open(target, WHOLE_CORES, OVERLOAD_CPS) as bench:
        disturbed, trial = bench.measure(), bench.measure()
        bench.folder.set_aside([disturbed.number], "a neighbour")
    figures = trial.figures
    assert 0 < figures["whole_cores_rate"] == figures["completed_cps"] < OVERLOAD_CPS
    kinds = "server_cpu.user", "server_cpu.system", "server_cpu.softirq", "softirq.NET_RX"
    assert all(figures[kind] for kind in kinds) and figures["system_call_time"]
    run = RunFolder.open(bench.folder.path)
    setup = setup_of(run.manifest(), target.name)
    assert "worker_processes" in setup["server"]["configuration"]
    assert run.manifest().state == "complete" and existing_namespaces() == []
    (server,) = summary_of(run).servers
    # What was set aside is stored, and in no figure.
    assert server.levels[0]["completed_cps"].values == [
        pytest.approx(figures["completed_cps"], rel=1e-3)
    ]
    first, last = run.trials()
    assert first.set_aside == "a neighbour" and not last.set_aside and disturbed.figures


@pytest.mark.bed
@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_ceiling_is_searched_and_stored_as_a_run_of_ceilings(tmp_path: Path) -> None:
    with RunLock(60), ThisMachine(tmp_path, ["test"]).open(target_of(FILE), CEILING) as bench:
        trial = bench.measure()
    (ceiling,) = trial.figures.values()
    assert ceiling > bench.load
    run = RunFolder.open(bench.folder.path)
    assert run.manifest().kind == "ceilings"
    summary = computed(run)
    assert isinstance(summary, CeilingSummary)
    (found,) = summary.ceilings
    (rate,) = found.rates
    assert found.complete and rate.name == "PDR" and rate.value == pytest.approx(ceiling, rel=1e-3)
    assert bool(trial.disturbed) == (rate.low is None)


@pytest.mark.bed
@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_strict_run_is_green_only_if_a_rate_was_judged(pytester: pytest.Pytester) -> None:
    """As a job of CI runs it. On a machine whose cores others use it cannot tell, and then fails;
    the wanted number is a fraction of what nginx does on any machine.
    """
    text = FILE.read_text().replace("../", f"{FILE.parents[1]}/")
    (pytester.path / "nginx.yaml").write_text(text)
    pytester.makepyfile(
        test_number="def test_it(cps_ceiling): cps_ceiling('nginx.yaml').at_least(500)",
        test_before="def test_it(cps_ceiling): cps_ceiling('nginx.yaml').not_below_baseline(0.05)",
    )
    strict = "--stackcost-strict", "--stackcost-quick", "-p", "no:cacheprovider"
    plugin = () if INSTALLED else ("-p", MODULE)
    none = pytester.runpytest_subprocess(*plugin, *strict, "test_before.py")
    assert none.ret == pytest.ExitCode.TESTS_FAILED
    none.stdout.fnmatch_lines(["stackcost: 1 had no baseline (nothing was judged)"])
    done = pytester.runpytest_subprocess(*plugin, *strict, "--junitxml=rates.xml", "test_number.py")
    root = ElementTree.parse(pytester.path / "rates.xml")
    told = {each.attrib["name"]: each.attrib["value"] for each in root.iter("property")}
    assert float(told["stackcost_cps"]) > float(told["stackcost_wanted_cps"]) == 500
    if told["stackcost_outcome"] == "holds":
        assert done.ret == pytest.ExitCode.OK
        done.stdout.fnmatch_lines(["stackcost: 1 held"])
        assert 1 < float(told["stackcost_ratio_low"]) <= float(told["stackcost_ratio"])
    else:
        assert told["stackcost_outcome"] == "cannot tell"
        assert done.ret == pytest.ExitCode.TESTS_FAILED
        done.stdout.fnmatch_lines(["stackcost: 1 could not tell (nothing was judged)"])
    assert (pytester.path / told["stackcost_run"]).is_dir()
    assert existing_namespaces() == []


@pytest.mark.bed
@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_baseline_finds_its_load_as_a_share_of_the_ceiling(tmp_path: Path) -> None:
    with RunLock(60), ThisMachine(tmp_path, ["test"]).open(target_of(FILE), WHOLE_CORES) as bench:
        trial = bench.measure()
    found = RunFolder.open(bench.folder.path).manifest().loads_found
    assert found and found.offered_cps == [bench.load]
    assert not trial.limited and trial.figures["whole_cores_rate"] > bench.load
