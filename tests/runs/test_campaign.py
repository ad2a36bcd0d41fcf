"""The one runner, fed with trials of a system that is made up; no test bed."""

import gc
import io
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from stackcost.bed import lock
from stackcost.contracts.counts import StackCheck
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.trial import Trial
from stackcost.experiment.schema import Experiment
from stackcost.runs import record
from stackcost.runs.campaign import AGAIN
from stackcost.runs.identity import experiment_hash, profile_hashes
from stackcost.runs.record import new_campaign, resumed_campaign
from stackcost.runs.turn import Feed, Purpose
from stackcost.servers import own_files
from stackcost.store import RunFolder
from tests.runs.made_up import EXPERIMENT, disturbed, planned, quiet, turn

ABOUT = {
    "experiment": EXPERIMENT.model_dump(mode="json"),
    "experiment_hash": experiment_hash(EXPERIMENT),
    "profile_hashes": profile_hashes(EXPERIMENT),
}


@pytest.fixture(autouse=True)
def _nothing_of_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is made up needs no root, and does not keep the machine from a real one."""
    monkeypatch.setattr(record, "check_root", lambda: None)
    monkeypatch.setattr(record, "LOOKED_S", 0.01)
    monkeypatch.setattr(lock, "state_folder", lambda: tmp_path)


def going(results: Path, output: io.StringIO | None = None) -> Any:
    console = Console(file=output or io.StringIO(), width=200)
    return new_campaign(results, "test", ["test"], console, **ABOUT)


def ending(how: Callable[[], None]) -> Callable[[Trial], None]:
    """A trial that has read something when something happens to it."""

    def make(trial: Trial) -> None:
        quiet(trial)
        how()

    return make


def test_trials_are_numbered_in_the_order_they_run_and_feeds_get_the_results(
    tmp_path: Path,
) -> None:
    seen: list[list[int]] = []
    told: list[int] = []

    def feed() -> Feed[None]:
        for trials in (2, 1, 0):
            told.append((yield turn([planned(quiet)] * trials, seen)))

    with going(tmp_path) as campaign:
        campaign.run(feed())
    assert (seen, told) == ([[1], [2], [3]], [2, 1, 0])
    assert [trial.number for trial in campaign.folder.trials()] == [1, 2, 3]
    manifest = campaign.folder.manifest()
    assert manifest.state == "complete" and manifest.finished and manifest.machine_after
    assert manifest.test_bed == {"nginx/kernel": {"links": 1}}
    assert manifest.servers == {"nginx/kernel": {"version": "1"}, "generator": {"cores": 1}}
    assert not (campaign.folder.path / "reserve").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_interrupted_keeps_what_was_measured(tmp_path: Path, number: int) -> None:
    log: list[str] = []
    end = ending(lambda: os.kill(os.getpid(), number))
    with going(tmp_path) as campaign:
        campaign.take(turn([planned(quiet), planned(end), planned(quiet)], [], log=log))
    whole, cut = campaign.folder.trials()
    assert (whole.set_aside, cut.set_aside) == ("", "cut short") and cut.samples
    assert campaign.folder.manifest().state == "interrupted"
    assert log == ["steps ended", "bed undone"], "what a trial changed is put back on its bed"


def test_a_second_ctrl_c_does_not_cut_the_record_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(KeyboardInterrupt), going(tmp_path) as campaign:
        describe = record.describe_machine

        def interrupted() -> Any:
            os.kill(os.getpid(), signal.SIGINT)
            return describe()

        monkeypatch.setattr(record, "describe_machine", interrupted)
        campaign.take(turn([planned(quiet)], []))
        raise KeyboardInterrupt
    manifest = campaign.folder.manifest()
    assert manifest.state == "interrupted" and manifest.machine_after
    assert not (campaign.folder.path / "reserve").exists()


def interrupted_run(results: Path) -> RunFolder:
    """Two trials, and a third that was cut short."""
    with going(results) as campaign:
        campaign.take(turn([planned(quiet)] * 2, []))
        raise KeyboardInterrupt
    return campaign.folder  # type: ignore[no-any-return]


def test_the_garbage_collector_stays_out_of_trials(tmp_path: Path) -> None:
    seen = list[bool]()

    def make(trial: Trial) -> None:
        quiet(trial)
        seen.append(gc.isenabled())
        if len(seen) == 2:
            raise StackcostError("the link is cut")

    with pytest.raises(StackcostError), going(tmp_path) as campaign:
        campaign.take(turn([planned(make)] * 2, []))
    assert seen == [False, False] and gc.isenabled()


@pytest.mark.parametrize("lost", ["nothing", "a line", "samples"])
def test_a_run_that_goes_on_numbers_its_trials_after_all_that_were_stored(
    tmp_path: Path, lost: str
) -> None:
    folder, seen = interrupted_run(tmp_path), list[list[int]]()
    if lost == "samples":
        (folder.path / "samples/0002.parquet").unlink()
    if lost == "a line":
        lines = folder.path / "trials.jsonl"
        lines.write_bytes(lines.read_bytes().splitlines(keepends=True)[0])
    with resumed_campaign(folder, ["again"], Console(file=io.StringIO())) as campaign:
        campaign.take(turn([planned(quiet)] * 2, seen))
    assert seen == [[3], [4]]
    manifest = folder.manifest()
    assert manifest.state == "complete"
    assert [(each.first_trial, each.command) for each in manifest.resumed] == [(3, ["again"])]


def test_a_complete_run_does_not_go_on_and_stays_as_it_is(tmp_path: Path) -> None:
    with going(tmp_path) as campaign:
        campaign.take(turn([planned(quiet)], []))
    before = campaign.folder.manifest()
    with (
        pytest.raises(StackcostError, match="is complete"),
        resumed_campaign(campaign.folder, [], Console(file=io.StringIO())),
    ):
        pass
    assert campaign.folder.manifest() == before


def test_a_disturbed_trial_for_a_figure_is_made_once_more_and_counts_once(tmp_path: Path) -> None:
    makes = iter([disturbed, quiet])
    seen: list[list[int]] = []
    output = io.StringIO()
    with going(tmp_path, output) as campaign:
        first = planned(lambda trial: next(makes)(trial))
        campaign.take(turn([first, planned(quiet)], seen))
    assert seen == [[1, 2], [3]]
    aside = {trial.number: trial.set_aside for trial in campaign.folder.trials()}
    assert aside == {1: "disturbed; repeated as trial 2", 2: "", 3: ""}
    assert output.getvalue().count("repeated because it was disturbed") == 1


def test_where_every_trial_is_disturbed_a_quarter_is_made_once_more(tmp_path: Path) -> None:
    seen: list[list[int]] = []
    with going(tmp_path) as campaign:
        campaign.take(turn([planned(disturbed)] * 9, seen))
    assert [len(numbers) for numbers in seen] == [2, 1, 1, 1, 2, 1, 1, 1, 2]
    assert [number for numbers in seen for number in numbers] == list(range(1, 13))
    trials = campaign.folder.trials()
    assert sum(not trial.set_aside for trial in trials) == 9, "each trial of the plan counts once"


def test_a_search_repeats_as_often_as_it_says_and_all_attempts_count(tmp_path: Path) -> None:
    seen: list[list[int]] = []
    purpose = Purpose(repeats=2, decides=True)
    with going(tmp_path) as campaign:
        campaign.take(turn([planned(disturbed, purpose), planned(quiet, purpose)], seen))
    assert seen == [[1, 2, 3], [4]]
    trials = campaign.folder.trials()
    assert [trial.load.repeat for trial in trials] == [0, 1, 2, 0]  # type: ignore[union-attr]
    assert {trial.set_aside for trial in trials} == {""}


def test_trials_that_only_look_are_stored_with_the_reason_why_they_are_in_no_figure(
    tmp_path: Path,
) -> None:
    with going(tmp_path) as campaign:
        campaign.take(turn([planned(disturbed, Purpose(set_aside="a look"))], []))
    (trial,) = campaign.folder.trials()
    assert trial.set_aside == "a look"


def test_what_another_stack_carried_ends_a_search_and_is_no_figure(tmp_path: Path) -> None:
    fallen = StackCheck("onload-balanced", "kernel", "no stack")
    with going(tmp_path) as campaign:
        campaign.take(turn([planned(quiet)], [], check=fallen))
    said = "carried by the kernel's stack instead of onload-balanced: no stack"
    assert campaign.folder.manifest().not_measured == {"nginx/kernel": said}
    (trial,) = campaign.folder.trials()
    assert trial.set_aside == said
    with (
        pytest.raises(StackcostError, match="instead of onload-balanced: no stack"),
        going(tmp_path) as campaign,
    ):
        campaign.take(turn([planned(quiet, Purpose(decides=True))], [], check=fallen))
    assert campaign.folder.count() == 1


def fail() -> None:
    raise StackcostError("the generator ended", "see its log")


def test_a_failure_says_where_it_was_and_where_the_trials_are(tmp_path: Path) -> None:
    with pytest.raises(StackcostError) as failed, going(tmp_path) as campaign:
        campaign.take(turn([planned(quiet), planned(ending(fail))], []))
    assert failed.value.what == "round 1 of 1, nginx/kernel: the generator ended"
    kept = f"earlier trials are kept; to see them, run: stackcost report {campaign.folder.path}"
    assert failed.value.hint == f"see its log; {kept}"
    manifest = campaign.folder.manifest()
    assert (manifest.state, manifest.failure) == ("failed", failed.value.what)


def test_an_error_in_a_users_own_file_says_where_it_was(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def ruleset(trial):\n    open('/no/site.nft')\n")
    own_files.OWN_FOLDERS.add(str(tmp_path))
    own = own_files.module_of(tmp_path / "mine.py")
    with pytest.raises(StackcostError) as failed, going(tmp_path / "results") as campaign:
        campaign.take(turn([planned(own.ruleset)], []))
    told = f"round 1 of 1, nginx/kernel: {tmp_path}/mine.py line 2, in ruleset: FileNotFoundError: "
    assert failed.value.what.startswith(told) and "'/no/site.nft'" in failed.value.what


def test_a_run_that_fails_before_its_first_trial_leaves_no_folder(tmp_path: Path) -> None:
    results = tmp_path / "results"
    with pytest.raises(StackcostError), going(results):
        fail()
    assert list(results.iterdir()) == []


def test_the_time_left_is_that_of_the_plan_and_grows_with_a_repeat(tmp_path: Path) -> None:
    output, made = io.StringIO(), turn([planned(disturbed), planned(quiet)], [])
    with going(tmp_path, output) as campaign:
        campaign.expect([made.setup_s + 24, 60])
        campaign.take(made)
    said = [line.partition(" left]")[0].rpartition("about ")[2] for line in lines_of(output)]
    assert said == ["1:24", "1:24", "1:12"], "the repeat takes as long as the trial did"
    assert f"round 1 of 1, nginx/kernel: 1,000 connections/s{AGAIN}" in output.getvalue()


def lines_of(output: io.StringIO) -> list[str]:
    return [line for line in output.getvalue().splitlines() if "connections/s" in line]


def test_only_a_run_with_a_part_of_its_bed_here_needs_this_machine(tmp_path: Path) -> None:
    """Nor does one that is resumed; then its folder is locked."""
    there = EXPERIMENT.model_dump(mode="json") | {
        "hosts": {"a": {"address": "192.0.2.1"}, "b": {"address": "192.0.2.2"}},
        "bed": {
            "load": {"host": "a", "interfaces": ["x"]},
            "server": {"host": "b", "interfaces": ["x"]},
        },
    }
    plan = Experiment.model_validate(there)
    about = ABOUT | {
        "experiment": plan.model_dump(mode="json"),
        "experiment_hash": experiment_hash(plan),
    }
    console = Console(file=io.StringIO())
    assert EXPERIMENT.uses_this_machine and not plan.uses_this_machine
    with lock.locked_file(tmp_path / "lock", "a run of another process"):
        with (
            pytest.raises(StackcostError, match="another run is active on this machine"),
            going(tmp_path),
        ):
            pass
        with new_campaign(tmp_path, "test", [], console, here=False, **about) as campaign:
            campaign.take(turn([planned(quiet)], []))
            raise KeyboardInterrupt
        with resumed_campaign(campaign.folder, [], console) as again:
            other = resumed_campaign(campaign.folder, [], console)
            with pytest.raises(StackcostError, match="is resumed"), other:
                pass
        assert again.folder.manifest().state == "complete"
