"""Whether a run may go on: the same plan, profiles and machine. No test bed."""

import re
from pathlib import Path
from typing import Any

import pytest

from stackcost.analysis.comparing.machines import differences
from stackcost.contracts.errors import StackcostError
from stackcost.experiment.read_file import read_experiment
from stackcost.runs.comparison import plan
from stackcost.runs.identity import check_resumable, experiment_hash, profile_hashes
from stackcost.store import Manifest

COMPARE = Path(__file__).resolve().parents[2] / "experiments" / "compare.yaml"
MACHINE = {"kernel": {"release": "6.1"}, "sysctls": {"net.core.busy_poll": "0"}}


def manifest(**others: Any) -> Manifest:
    experiment = read_experiment(COMPARE)
    known: dict[str, Any] = {
        "run": "1",
        "state": "interrupted",
        "experiment": experiment.model_dump(mode="json"),
        "experiment_hash": experiment_hash(experiment),
        "profile_hashes": profile_hashes(experiment),
        "machine": MACHINE,
    }
    return Manifest.model_validate(known | others)


def test_an_interrupted_run_goes_on_after_a_changed_setting_which_it_reports() -> None:
    now = MACHINE | {"sysctls": {"net.core.busy_poll": "50"}}
    assert check_resumable(manifest(), now) == read_experiment(COMPARE)
    assert differences(MACHINE, now) == ["sysctls.net.core.busy_poll: 0 -> 50"]


@pytest.mark.parametrize(
    ("others", "machine", "told"),
    [
        ({"state": "complete"}, MACHINE, "is complete"),
        ({}, MACHINE | {"kernel": {"release": "6.2"}}, "kernel.release: 6.1 -> 6.2"),
        ({"experiment": {"title": "a search"}}, MACHINE, "is not a run of an experiment"),
        ({"experiment_hash": "other"}, MACHINE, "the plan in its manifest"),
        ({"profile_hashes": {"gone.py": "1"}}, MACHINE, "gone.py changed"),
    ],
)
def test_what_would_be_another_run_does_not_go_on(
    others: dict[str, Any], machine: dict[str, Any], told: str
) -> None:
    with pytest.raises(StackcostError, match=told):
        check_resumable(manifest(**others), machine)


def test_a_plan_lacks_what_is_stored_and_repeats_a_memory_part_that_was_cut() -> None:
    experiment = read_experiment(COMPARE, quick=True).offering([1000, 2000, 4000])
    everything = [trial for turn in plan(experiment) for trial in turn.trials]
    assert plan(experiment, everything) == []
    first_turn = everything[:8]
    missing_load = [trial for trial in everything if trial is not first_turn[6]]
    (turn,) = plan(experiment, missing_load)
    assert [trial.traffic.identity for trial in turn.trials] == [("load", 2000)]
    for cut in (first_turn[1], first_turn[4]):  # the last one has the number of the first
        missing_hold = [trial for trial in everything if trial is not cut]
        (turn,) = plan(experiment, missing_hold)
    assert [trial.load.open_flows for trial in turn.trials] == [0, 2000, 8000, 4000, 0]


def test_a_run_does_not_go_on_by_a_plan_that_its_file_no_longer_has(tmp_path: Path) -> None:
    """The stored plan would be measured, which is not what the file says now."""
    path = tmp_path / "mine.yaml"
    written = re.sub("published: .*|[.][.]/trex_profiles/", "", COMPARE.read_text())
    path.write_text(written)
    plan_file = {"path": str(path), "quick": True}
    plan = read_experiment(path, quick=True)
    begun = manifest(
        plan_file=plan_file,
        experiment=plan.model_dump(mode="json"),
        experiment_hash=experiment_hash(plan),
    )
    path.write_text(f"# a comment\n{written}")
    assert check_resumable(begun, MACHINE) == plan
    path.write_text(written.replace("offered_shares: [0.25,", "offered_shares: [0.4,"))
    told = r"mine.yaml \(load.offered_shares: \[0.25, 0.5, 0.75\] -> \[0.4, 0.5, 0.75\]\) changed"
    with pytest.raises(StackcostError, match=told):
        check_resumable(begun, MACHINE)
    path.unlink()
    assert check_resumable(begun, MACHINE) == plan, "the manifest has the plan"
