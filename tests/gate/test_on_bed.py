"""One short round on the real test bed, as the gate measures it."""

from pathlib import Path

import pytest

from stackcost.harness.bed.lock import RunLock
from stackcost.harness.bed.network import existing_namespaces
from stackcost.harness.gate.bench import open_bench
from stackcost.harness.gate.target import target_of
from stackcost.report.stored import summary_of
from stackcost.store import RunFolder

FILE = Path(__file__).resolve().parents[2] / "experiments" / "nginx_kernel.yaml"
OVERLOAD_CPS = 30_000.0  # more than nginx on one core and this generator can do


@pytest.mark.bed
def test_a_saturated_server_is_measured_and_stored(tmp_path: Path) -> None:
    with RunLock(60), open_bench(target_of(FILE), tmp_path, ["test"]) as bench:
        disturbed, trial = bench.measure(OVERLOAD_CPS), bench.measure(OVERLOAD_CPS)
        bench.set_aside([0])
        setup = bench.setup()
    assert not trial.kept_up and 0 < trial.completed_cps <= trial.cps < OVERLOAD_CPS
    assert all(trial.cpu[kind] for kind in ("user", "system", "softirq")) and trial.softirq
    assert trial.foreign is not None and trial.idle is not None
    assert trial.whole is not None and 0 < trial.whole.cps <= trial.cps
    assert "worker_processes" in setup["server"]["configuration"]
    run = RunFolder.open(Path(bench.folder))
    assert run.manifest().state == "complete" and existing_namespaces() == []
    (server,) = summary_of(run).servers
    # What was set aside is stored, and in no figure.
    assert server.levels[0].completed_cps.values == [pytest.approx(trial.completed_cps, rel=1e-3)]
    first, last = run.trials()
    assert first.set_aside and not last.set_aside and disturbed.completed_cps > 0
