"""One short round on the real test bed, as the gate measures it."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from stackcost.bed.lock import RunLock
from stackcost.bed.network import existing_namespaces
from stackcost.gate.figure import CEILING, WHOLE_CORES
from stackcost.gate.this_machine import ThisMachine, target_of
from stackcost.report.ceiling import ceilings_of
from stackcost.report.stored import summary_of
from stackcost.store import RunFolder
from tests.gate.test_plugin import INSTALLED, MODULE

FILE = Path(__file__).resolve().parents[2] / "experiments" / "nginx_kernel.yaml"
OVERLOAD_CPS = 30_000.0  # more than nginx on one core and this generator can do


@pytest.mark.bed
def test_a_saturated_server_is_measured_and_stored(tmp_path: Path) -> None:
    with RunLock(60), ThisMachine(tmp_path, ["test"]).open(target_of(FILE), WHOLE_CORES) as bench:
        disturbed, trial = bench.measure(OVERLOAD_CPS), bench.measure(OVERLOAD_CPS)
        bench.set_aside({0: "a neighbour"})
        setup = bench.setup()
    assert not trial.kept_up and 0 < trial.cps == trial.completed_cps < OVERLOAD_CPS
    assert all(trial.cpu[kind] for kind in ("user", "system", "softirq")) and trial.softirq
    assert trial.foreign is not None and trial.idle is not None
    assert trial.whole is not None and trial.whole.cps == trial.cps
    assert "worker_processes" in setup["server"]["configuration"]
    run = RunFolder.open(Path(bench.folder))
    assert run.manifest().state == "complete" and existing_namespaces() == []
    (server,) = summary_of(run).servers
    # What was set aside is stored, and in no figure.
    assert server.levels[0]["completed_cps"].values == [
        pytest.approx(trial.completed_cps, rel=1e-3)
    ]
    first, last = run.trials()
    assert first.set_aside == "a neighbour" and not last.set_aside and disturbed.completed_cps > 0


@pytest.mark.bed
@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_ceiling_is_searched_and_stored_as_a_run_of_ceilings(tmp_path: Path) -> None:
    with RunLock(60), ThisMachine(tmp_path, ["test"]).open(target_of(FILE), CEILING) as bench:
        trial = bench.measure(bench.steady_load())
    assert trial.cps > bench.steady_load() and not trial.cpu
    (found,) = ceilings_of(RunFolder.open(Path(bench.folder))).ceilings
    (rate,) = found.rates
    assert (
        found.complete and rate.name == "PDR" and rate.value == pytest.approx(trial.cps, rel=1e-3)
    )
    assert bool(trial.unsure) == (rate.low is None)


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
