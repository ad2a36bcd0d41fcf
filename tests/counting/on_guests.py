"""A counting guest that really boots: nginx and the ASTF peer, each in one round.

script/test-guests runs this; script/test does not, because a boot takes up to a minute.
"""

from pathlib import Path

from rich.console import Console

from stackcost.analysis.figures.counted import counts, system_calls, total
from stackcost.analysis.flags import flags_of
from stackcost.analysis.readings import Readings
from stackcost.counting.server import SERVES
from stackcost.experiment.read_file import read_experiment
from stackcost.runs.comparison import run_experiment

NGINX_KERNEL = Path(__file__).resolve().parents[2] / "experiments" / "nginx_kernel.yaml"


def test_nginx_and_the_peer_are_counted_apart_from_the_generator(tmp_path: Path) -> None:
    plan = read_experiment(NGINX_KERNEL).as_counted()
    assert plan.counted is not None
    plan = plan.model_copy(
        update={
            "servers": ["nginx/kernel", "astf-peer"],
            "rounds": 1,
            "counted": plan.counted.model_copy(update={"connections": 100}),
        }
    )
    run = run_experiment(plan, "counted", tmp_path, [], Console(quiet=True))
    seen = {trial.server: Readings(trial, [0]) for trial in run.trials()}
    assert set(seen) == {"nginx/kernel", "astf-peer"}
    for system, task in (("nginx/kernel", "nginx"), ("astf-peer", SERVES)):
        readings = seen[system]
        assert flags_of(readings) == [] and readings.trial.traffic.completed == 100
        assert 50_000 < (total(readings) or 0.0) < 200_000
        own = {row.task for row in counts(readings) if row.side == "server"}
        assert own == {task, "napi/sc-server0", "RCU callbacks"}
        assert task != "nginx" or 1.0 <= system_calls(readings)["accept4"] <= 2.0
        assert "data-0" in {row.task for row in counts(readings) if row.side == "other"}
