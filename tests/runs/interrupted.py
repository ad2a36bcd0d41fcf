"""`stackcost run` on a system that is made up. It says when it gets to each step, and waits there.

Usage: python -m tests.runs.interrupted STATE_FOLDER STEP... run ARGUMENTS

STEP: setting-up, measuring, recording, computing, rendering. At each it prints "at STEP" and waits
for a line on its standard input. At rendering a cell of a notebook says so, in the pipe `told` of
STATE_FOLDER, and goes on until it is ended.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from stackcost.bed import lock
from stackcost.cli import main
from stackcost.contracts.system import System
from stackcost.contracts.trial import Trial
from stackcost.host.modules import hidden
from stackcost.report import notebook
from stackcost.report.results import computed as results
from stackcost.runs import comparison as feeder
from stackcost.runs import record
from stackcost.store import RunFolder
from tests.runs.made_up import EXPERIMENT, planned, quiet, turn

with hidden("rfc3987_syntax"):  # as the suite imports it
    import nbformat

STEPS = ("setting-up", "measuring", "recording", "computing", "rendering")
STATE = Path(sys.argv[1])
waits = [word for word in sys.argv[2:] if word in STEPS]


def reach(step: str) -> None:
    if step in waits:
        print(f"at {step}", flush=True)
        sys.stdin.readline()


def made_up_run(
    experiment: object,
    name: str,
    results: Path,
    command: list[str],
    console: Console,
    *_: object,
) -> RunFolder:
    def make(trial: Trial) -> None:
        quiet(trial)
        reach("measuring")

    about = {
        "experiment": EXPERIMENT.model_dump(mode="json"),
        "systems": [System.of("nginx/kernel")],
    }
    with record.new_campaign(results, name, command, console, **about) as campaign:
        reach("setting-up")
        campaign.take(turn([planned(quiet), planned(make)], []))
    return campaign.folder


def first_reaching(step: str, do: Callable[..., Any]) -> Callable[..., Any]:
    def run(*given: Any, **named: Any) -> Any:
        reach(step)
        return do(*given, **named)

    return run


def one_cell(names: object, runs: object) -> nbformat.NotebookNode:
    """A notebook whose only cell says that it runs, and goes on until it is ended."""
    told = STATE / "told"  # a pipe: what it says there can be waited for
    code = f"import time\nprint('at rendering', file=open({str(told)!r}, 'w'))\ntime.sleep(1000)"
    cell = nbformat.v4.new_code_cell(code)  # type: ignore[no-untyped-call]
    made: nbformat.NotebookNode = nbformat.v4.new_notebook(cells=[cell])  # type: ignore[no-untyped-call]
    return made


if __name__ == "__main__":
    record.check_root = lambda: None  # type: ignore[assignment]
    record.LOOKED_S = 0.01
    lock.state_folder = lambda: STATE
    feeder.run_experiment = made_up_run
    record._finish = first_reaching("recording", record._finish)
    results.computed = first_reaching("computing", results.computed)
    if "rendering" in waits:
        notebook._join = one_cell
    sys.argv = [sys.argv[0], *(w for w in sys.argv[2:] if w not in STEPS)]
    main()
