"""Runs experiments one after the other, as the command does but without a report.

Usage: python control.py RESULTS PLAN... It prints a line of JSON for each: the error or null. With
- in place of RESULTS it only opens a session of each.
"""

import json
import sys
from pathlib import Path

from rich.console import Console

from stackcost.contracts.errors import StackcostError
from stackcost.harness.comparison.turns import run_experiment
from stackcost.harness.experiment.load_file import load_experiment
from stackcost.harness.experiment.schema import Experiment
from stackcost.harness.session.profile_session import open_profile_session
from stackcost.harness.session.progress import Progress
from stackcost.harness.systems.registry import server_class


def main() -> None:
    results, *plans = map(Path, sys.argv[1:])
    for plan in plans:
        said = None
        try:
            experiment = load_experiment(plan)
            if results == Path("-"):
                open_session(experiment, plan.with_suffix(".logs"))
            else:
                run_experiment(experiment, plan.stem, results, [], Console(stderr=True))
        except StackcostError as error:
            said = {"what": error.what, "hint": error.hint}
        print(json.dumps(said), flush=True)


def open_session(experiment: Experiment, logs: Path) -> None:
    kind = server_class(experiment.servers[0])
    with (
        Progress(0.0, Console(quiet=True)) as progress,
        open_profile_session(kind, experiment, logs, "test", progress),
    ):
        pass


if __name__ == "__main__":
    main()
