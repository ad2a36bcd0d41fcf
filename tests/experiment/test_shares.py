"""Loads that are shares of what the slowest system holds, on the real test bed."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from stackcost.experiment.read_file import read_experiment
from stackcost.report.results.stored import summary_of
from stackcost.runs.comparison import resume_experiment, run_experiment
from stackcost.runs.slowest import SET_ASIDE
from tests.experiment.command import short_compare

SHARES = """
rounds: 1
load: {offered_cps: [], offered_shares: [0.5], warm_up_s: 0.6, sustain_s: 1}
memory: {open_flows: [0, 100], open_cps: 1000, settle_s: 0.2, read_s: 0.3}
"""


class Ending(Console):
    """Somebody presses Ctrl-C when these words appear."""

    words = "round 1 of 1"

    def print(self, *things: Any, **options: Any) -> None:
        """Nothing is shown."""
        if self.words in " ".join(map(str, things)):
            raise KeyboardInterrupt


@pytest.mark.bed
@pytest.mark.long
@pytest.mark.timeout(600)  # a search and a run; on a busy machine disturbed trials are made again
def test_the_ceiling_is_found_once_and_a_run_that_goes_on_keeps_it(tmp_path: Path) -> None:
    experiment = read_experiment(short_compare(tmp_path, SHARES), quick=True)
    run = run_experiment(experiment, "test", tmp_path, ["test"], Ending(file=io.StringIO()))
    assert run.manifest().state == "interrupted"
    found = run.manifest().loads_found
    assert found is not None and set(found.ceilings) == {"nginx/kernel", "astf-peer"}
    lowest = min(found.ceilings.values())
    assert found.offered_cps == [float(f"{lowest / 2:.2g}")]
    searched = run.trials()
    assert {(trial.round, trial.set_aside) for trial in searched} == {(0, SET_ASIDE)}
    assert max(trial.load.load for trial in searched) > lowest, "one was not held"
    for name, ceiling in found.ceilings.items():
        (highest,) = experiment.load.rates_of(ceiling)
        tried = [trial.load.load for trial in searched if trial.server == name]
        assert tried[-1] == highest, "the highest load of the run was tried by itself"

    resume_experiment(run, ["test"], Console(file=io.StringIO()))
    manifest = run.manifest()
    assert manifest.state == "complete" and manifest.loads_found == found
    own = [trial for trial in run.trials() if trial.round == 1]
    assert len(run.trials()) == len(searched) + len(own), "nothing was searched again"
    loads = {(trial.server, trial.offered_cps) for trial in own if trial.offered_cps}
    assert loads == {(server, rate) for server in found.ceilings for rate in found.offered_cps}
    assert summary_of(run).ceilings == found.ceilings
