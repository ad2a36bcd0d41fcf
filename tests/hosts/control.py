"""Runs experiments one after the other, as the command does but without a report.

Usage: python control.py RESULTS PLAN... It prints a line of JSON for each: the error or null. With
- in place of RESULTS it only opens a session of each. A plan whose name begins with "ceiling" is
searched for a ceiling, shortly. One with "events" has the link of its device cut.
"""

import json
import sys
from pathlib import Path

from rich.console import Console

from stackcost.analysis.ceiling.settings import SearchSettings
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.event_settings import EventSettings
from stackcost.experiment.matrix import variants
from stackcost.experiment.read_file import read_experiment
from stackcost.experiment.schema import Experiment
from stackcost.runs.comparison import run_experiment
from stackcost.runs.device import run_events
from stackcost.runs.search import CeilingPlan, run_ceilings
from stackcost.servers.registry import server_class
from stackcost.session.profile_session import open_profile_session
from stackcost.session.progress import Progress

SEARCH = SearchSettings(
    relative_width=0.5,
    initial_trial_duration=1,
    final_trial_duration=1,
    duration_sum=1,
    first_load=300,
    most_load=600,
)
EVENT = EventSettings(cut_at=2, cut_seconds=6)


def main() -> None:
    results, *plans = map(Path, sys.argv[1:])
    for plan in plans:
        said = None
        try:
            experiment = read_experiment(plan)
            if results == Path("-"):
                open_session(experiment, plan.with_suffix(".logs"))
            elif plan.stem.startswith("ceiling"):
                searches = CeilingPlan(tuple(variants(experiment)), {"connections": SEARCH}, 1)
                run_ceilings(searches, plan.stem, results, [], Console(stderr=True))
            elif plan.stem.startswith("events"):
                run_events(experiment, ["cut"], EVENT, results, [], Console(stderr=True))
            else:
                run_experiment(experiment, plan.stem, results, [], Console(stderr=True))
        except StackcostError as error:
            said = {"what": error.what, "hint": error.hint}
        print(json.dumps(said), flush=True)


def open_session(experiment: Experiment, logs: Path) -> None:
    kind = server_class(experiment.servers[0])
    with open_profile_session(kind, experiment, logs, Progress()):
        pass


if __name__ == "__main__":
    main()
