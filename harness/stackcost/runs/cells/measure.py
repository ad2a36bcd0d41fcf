"""Measures one cell in its own process: python -m stackcost.runs.cells.measure PLAN FOLDER.

The last line of its output is JSON: the run's folder and its state, or the error.
"""

import json
import sys
from pathlib import Path

from rich.console import Console

from stackcost.contracts.errors import StackcostError
from stackcost.experiment.read_file import read_experiment
from stackcost.report.results.computed import summarise_again
from stackcost.runs.comparison import run_experiment


def main() -> None:
    """Store the run and its answer; a report is rendered later, when somebody wants one."""
    plan, folder = map(Path, sys.argv[1:])
    try:
        run = run_experiment(
            read_experiment(plan), plan.stem, folder, sys.argv, Console(stderr=True)
        )
        state = run.manifest().state
        if state == "complete":
            summarise_again(run)
        said = {"run": run.name, "state": state}
    except StackcostError as error:
        said = {"what": error.what, "hint": error.hint}
    print(json.dumps(said))


if __name__ == "__main__":
    main()
