"""What a release wrote and was given is read by later versions, as docs/installing.md promises.

script/release puts a run and the experiments of each release into tests/fixtures/released.
"""

from pathlib import Path

import pytest

import stackcost
from stackcost.experiment.read_file import read_experiment
from stackcost.files import EXPERIMENTS
from tests.analysis.stored_runs import SMALL

RELEASED = Path(__file__).parents[1] / "fixtures/released"


@pytest.mark.parametrize("run", [SMALL, *RELEASED.glob("*/run")], ids=str)
def test_a_run_is_read(run: Path) -> None:
    opened = stackcost.open(run)
    assert len(opened.trials) == 20
    for table in (opened.costs, opened.memory, opened.latency, opened.factors):
        assert len(table), table.columns


@pytest.mark.parametrize("folder", [EXPERIMENTS, *RELEASED.glob("*/experiments")], ids=str)
def test_experiments_are_read(folder: Path) -> None:
    assert all(read_experiment(file).title for file in folder.iterdir())
