"""Cores that this machine lacks are refused before a run has a folder or a test bed."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from stackcost.contracts.errors import StackcostError
from stackcost.experiment.read_file import read_experiment
from stackcost.experiment.schema import Cores
from stackcost.runs.comparison import run_experiment

COMPARE = Path(__file__).resolve().parents[2] / "experiments" / "compare.yaml"


def test_a_core_that_does_not_exist_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    experiment = read_experiment(COMPARE, quick=True)
    experiment = experiment.model_copy(update={"cores": Cores(load=[0], server=[4000])})
    with pytest.raises(StackcostError, match=r"cores \[4000\] do not exist"):
        run_experiment(experiment, "test", tmp_path, [], Console(file=io.StringIO()))
    assert list(tmp_path.iterdir()) == []
