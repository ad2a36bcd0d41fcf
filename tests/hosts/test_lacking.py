"""What the server's host lacks for a system: asked of it before a run, and not measured."""

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from stackcost.contracts.errors import StackcostError
from stackcost.experiment import matrix
from stackcost.experiment.matrix import variants
from stackcost.experiment.read_file import read_experiment
from stackcost.experiment.schema import Experiment
from stackcost.runs import comparison as feeder
from stackcost.runs.campaign import Campaign
from stackcost.runs.comparison import plan
from stackcost.runs.slowest import Held
from stackcost.session import both_sides as sides
from stackcost.session.progress import Progress
from stackcost.store import Manifest, RunFolder
from tests.hosts.pipes import Here
from tests.hosts.test_on_bed import PLAN

LACKS = {"kernel": "", "onload-balanced": "Onload cannot run here, it lacks its programs"}
ONLOAD = "nginx/onload-balanced"
THERE = {ONLOAD: "host b: Onload cannot run here, it lacks its programs"}
asked: list[tuple[str, tuple[str, ...]]] = []


def stack_lacks(stack: str, interfaces: Sequence[str] = ()) -> str:
    asked.append((stack, tuple(interfaces)))
    return LACKS[stack]


@pytest.fixture
def experiment(tmp_path: Path) -> Experiment:
    changed: dict[str, Any] = {
        "matrix": {"stack": list(LACKS)},
        "hosts": {"b": {"address": "192.0.2.2"}},
        "bed": {
            "server": {"host": "b", "interfaces": ["nic0"]},
            "load": {"interfaces": ["nic0"]},
        },
    }
    file = tmp_path / "onload.yaml"
    file.write_text(json.dumps(PLAN | changed))
    return read_experiment(file)


def test_the_host_of_the_server_says_what_it_lacks(
    experiment: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matrix, "stack_lacks", stack_lacks)
    here = Here(tmp_path, monkeypatch)
    monkeypatch.setattr(sides, "_channel", lambda name, host: here.pipes)
    systems = variants(experiment)
    assert [each.lacking for each in systems] == ["", ""], "this machine has no part in it"
    here.start()
    asked.clear()
    assert sides.lacking_there(systems) == THERE
    assert asked == [(stack, ("nic0",)) for stack in LACKS]
    here.thread.join(20)
    assert not here.thread.is_alive(), "the agent has ended"


def test_no_host_is_asked_for_the_bed_of_one_machine(
    experiment: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matrix, "stack_lacks", stack_lacks)
    alone = experiment.model_copy(update={"bed": None, "hosts": {}})
    assert [each.lacking for each in variants(alone)] == list(LACKS.values())
    assert sides.lacking_there(variants(alone)) == {}


def test_its_systems_are_not_measured_and_the_others_are(
    experiment: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {turn.variant.name for turn in plan(experiment, lacking=THERE)} == {"nginx/kernel"}
    shares = experiment.load.model_copy(update={"offered_cps": [], "offered_shares": [0.5]})
    folder = RunFolder.create(tmp_path, "test")
    campaign = Campaign(folder, Manifest(run=folder.name), Progress())
    feed = feeder.turns_of(experiment.model_copy(update={"load": shares}), campaign, THERE)
    asked = [next(feed), feed.send((Held(1000.0), "")), *feed]
    assert {turn.system for turn in asked} == {"nginx/kernel"}

    told: dict[str, Any] = {}

    def begin(*_: Any, **named: Any) -> None:
        told.update(named)
        raise StackcostError("far enough")

    monkeypatch.setattr(feeder, "lacking_there", lambda systems: THERE)
    monkeypatch.setattr(feeder, "new_campaign", begin)
    with pytest.raises(StackcostError, match="far enough"):
        feeder.run_experiment(experiment, "onload", tmp_path, [], Console(file=io.StringIO()))
    assert [each.name for each in told["systems"]] == ["nginx/kernel", *THERE]
    assert told["not_measured"] == THERE
