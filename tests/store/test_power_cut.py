"""A power cut after any step of storing a run loses nothing that was reported as stored."""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from stackcost.cli.entry import app
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.trial import Trial
from stackcost.experiment.schema import Experiment
from stackcost.host import files
from stackcost.report.results.computed import computed, summarise_again
from stackcost.runs.campaign import next_number
from stackcost.runs.comparison import plan
from stackcost.store import Manifest, RunFolder
from stackcost.store.folder import RESERVE, RESERVED_BYTES
from tests.analysis.runs import compared
from tests.report.cells import shown
from tests.report.stored import MACHINE, experiment
from tests.store.disk import Recorder, Tree, after_power_cuts, lay

TRIALS = compared(1)[2:5]


class Cut:
    """A run stored step by step; `reported`: steps that had been made when a trial was stored."""

    def __init__(self, root: Path, patch: pytest.MonkeyPatch):
        self.root = root
        disk = Recorder(root)
        patch.setattr(files, "os", disk)
        run = RunFolder.create(root, "compare")
        self.name = run.name
        manifest = Manifest(run=run.name, experiment=experiment(), machine=MACHINE)
        run.write_manifest(manifest)
        self.began = len(disk.steps)
        self.reported = []
        for trial in TRIALS:
            run.add_trial(trial)
            self.reported.append(len(disk.steps))
        run.set_aside([TRIALS[0].number], "its turn was cut short, and run again")
        manifest.state = "complete"
        run.give_back_reserve()
        run.write_manifest(manifest)
        run.write_summary(computed(run))
        self.steps: list[Any] = disk.steps


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> Cut:
    with pytest.MonkeyPatch.context() as patch:
        return Cut(tmp_path_factory.mktemp("results"), patch)


@pytest.fixture(scope="module")
def states(cut: Cut) -> list[tuple[int, Tree]]:
    return after_power_cuts(cut.steps)


def test_the_steps_that_are_recorded_are_all_that_was_written(
    cut: Cut, states: list[tuple[int, Tree]]
) -> None:
    there = {str(path.relative_to(cut.root)): path for path in cut.root.rglob("*")}
    whole = {name: None if path.is_dir() else path.read_bytes() for name, path in there.items()}
    whole[f"{cut.name}/{RESERVE}"] = bytes(RESERVED_BYTES)  # given back, which no reader sees
    assert (len(cut.steps), {".": None, **whole}) in states
    assert len(states) > 70


def test_after_a_cut_at_any_step_every_reported_trial_is_read_and_nothing_is_a_traceback(
    cut: Cut, states: list[tuple[int, Tree]], tmp_path: Path
) -> None:
    shown: dict[Any, BaseException | None] = {}
    for number, (done, tree) in enumerate(states):
        root = tmp_path / str(number)
        root.mkdir()
        lay(tree, root)
        folder = root / cut.name
        reported = sum(done >= at for at in cut.reported)
        if done >= cut.began:
            _is_whole(RunFolder.open(folder), reported)
        files_read = frozenset(item for item in tree.items() if "unfinished" not in item[0])
        if files_read not in shown:  # no command looks at the other ones
            shown[files_read] = _error_of("show", folder)
            assert _error_of("ls", root) is None
        if reported:
            assert shown[files_read] is None
        else:
            assert isinstance(shown[files_read], StackcostError | None)
    assert len(shown) > 8


def _error_of(command: str, path: Path) -> BaseException | None:
    """How it ended; the message for its user is an error, too."""
    return CliRunner().invoke(app, [command, str(path)]).exception


def _is_whole(run: RunFolder, reported: int) -> None:
    """All reported trials as they were, at most one more, and a plan that goes on after them."""
    stored = run.stored()
    assert not stored.damaged
    assert reported <= len(stored.trials) <= reported + 1
    for trial, wanted in zip(stored.trials, TRIALS, strict=False):
        assert (trial.number, trial.samples) == (wanted.number, wanted.samples)
        assert trial.set_aside in ("", "its turn was cut short, and run again")
    read = Experiment.model_validate(run.manifest().experiment)
    assert plan(read, stored.trials), "the run lacks something"
    number = next_number(run, stored.trials)
    assert number > max((trial.number for trial in stored.trials), default=0)


def test_a_run_goes_on_and_is_rendered_after_a_cut_in_the_middle(
    cut: Cut, states: list[tuple[int, Tree]], tmp_path: Path
) -> None:
    done, tree = [each for each in states if each[0] == cut.reported[1] - 1][-1]
    assert done < cut.reported[1]
    lay(tree, tmp_path)
    run = RunFolder.open(tmp_path / cut.name)
    before = [trial.number for trial in run.trials()]
    again = Trial("nginx/kernel", run.next_number(), 1, TRIALS[1].load)
    run.add_trial(again)
    assert [trial.number for trial in run.trials()] == [*before, again.number]
    summarise_again(run)
    assert shown("trust", [run.path])
