"""A counting guest that really boots: nginx and the ASTF peer, each in one round.

script/test-guests runs this; script/test does not, because a boot takes up to a minute. Onload is
counted where ONLOAD_FILES names a folder with it for the guest's kernel.
"""

import os
from pathlib import Path

import pytest
from rich.console import Console

from stackcost.analysis.figures.counted import by_category, counts, system_calls, total
from stackcost.analysis.readings import Readings
from stackcost.analysis.trial.flags import flags_of
from stackcost.contracts.stack import KERNEL
from stackcost.counting.server import SERVES
from stackcost.experiment.read_file import read_experiment
from stackcost.experiment.schema import Experiment
from stackcost.runs.comparison import run_experiment

NGINX_KERNEL = Path(__file__).resolve().parents[2] / "experiments" / "nginx_kernel.yaml"
ONLOAD_FILES = os.environ.get("ONLOAD_FILES", "")


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
        files = {row.function for row in counts(readings) if row.mode == "user" and row.function}
        assert files >= ({"nginx", "libc.so.6"} if task == "nginx" else {"astf-engine"})
        assert "?" not in files and "libssl.so.3" not in files
        assert "data-0" in {row.task for row in counts(readings) if row.side == "other"}


def test_haproxy_is_counted_apart_from_its_backends(tmp_path: Path) -> None:
    plan = read_experiment(NGINX_KERNEL.with_name("haproxy_counted.yaml"))
    assert plan.counted is not None
    counted = plan.counted.model_copy(update={"connections": 100})
    one = {"servers": ["haproxy/kernel"], "rounds": 1, "counted": counted}
    run = run_experiment(plan.model_copy(update=one), "counted", tmp_path, [], Console(quiet=True))
    (trial,) = run.trials()
    seen = counts(Readings(trial))
    assert trial.traffic.completed == 100
    polls = {"napi/sc-server0", "napi/sc-server1"}
    assert {row.task for row in seen if row.side == "server"} == {
        "haproxy",
        "RCU callbacks",
    } | polls
    assert "nginx" in {row.task for row in seen if row.side == "other"}


# An `onload` that starts the program without Onload.
NOT_ONLOAD = """printf '#!/bin/sh\nshift 2\nexec "$@"\n' >/run/onload
chmod +x /run/onload
mount --bind /run/onload "$(command -v onload)"
"""
ON_ONLOAD = pytest.mark.skipif(not ONLOAD_FILES, reason="ONLOAD_FILES names no folder")


def on_onload(script: str = "") -> Experiment:
    plan = read_experiment(NGINX_KERNEL).as_counted()
    assert plan.counted is not None
    counted = {"files": Path(ONLOAD_FILES), "connections": 100, "script": script}
    return plan.model_copy(
        update={
            "servers": ["nginx/kernel"],
            "server": plan.server.model_copy(update={"stack": "onload-balanced"}),
            "rounds": 1,
            "counted": plan.counted.model_copy(update=counted),
        }
    )


@ON_ONLOAD
def test_nginx_that_onload_does_not_carry_is_refused(tmp_path: Path) -> None:
    run = run_experiment(on_onload(NOT_ONLOAD), "counted", tmp_path, [], Console(quiet=True))
    (trial,) = run.trials()
    assert trial.stack_check is not None and trial.stack_check.carried == KERNEL
    assert trial.set_aside


@ON_ONLOAD
def test_nginx_on_onload_is_accelerated_and_counted(tmp_path: Path) -> None:
    run = run_experiment(on_onload(), "counted", tmp_path, [], Console(quiet=True))
    (trial,) = run.trials()
    assert trial.stack_check is not None and trial.stack_check.as_wanted
    assert trial.set_aside == "" and trial.traffic.completed == 100
    found = by_category(Readings(trial))
    assert found["Onload's library (user mode)"] > 10_000
    assert "accept4" not in system_calls(Readings(trial))
