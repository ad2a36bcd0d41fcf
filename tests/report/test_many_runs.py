"""A folder of many runs: `ls` lists all of them, `trend` finds where a figure changed."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from stackcost.cli.entry import app
from stackcost.report.listing import MANY, list_runs
from stackcost.report.results.computed import summarise_again
from stackcost.report.run_trend import run_trends
from stackcost.store import RunFolder
from tests.report.stored import store
from tests.store.many import write_many

RUNS, STEP = 40, 1.3
FILES = "manifest.json", "summary.json"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    results = tmp_path_factory.mktemp("written") / "results"
    write_many(results, RUNS, STEP)
    return results


@pytest.fixture
def results(written: Path, tmp_path: Path) -> Path:
    """A copy that the test may change."""
    shutil.copytree(written, tmp_path / "results")
    return tmp_path / "results"


def test_names_and_texts_that_are_no_text_are_listed(results: Path) -> None:
    run = next(results.iterdir())
    odd = os.fsencode(results) + b"/zz-\xff"
    shutil.copytree(run, os.fsdecode(odd))
    *_, last = list_runs(results)
    assert last["run"] == "zz-\\xff" and last["state"] == "complete"


def test_thousands_of_runs_are_lines(results: Path) -> None:
    for at in range(MANY - RUNS):
        (results / f"no-{at}").mkdir()
        (results / f"no-{at}" / "manifest.json").write_text('{"\x1b[2J": ')
    done = CliRunner().invoke(app, ["ls", str(results)])
    assert done.exit_code == 0 and len(done.output.splitlines()) == MANY + 2
    assert "\x1b" not in done.output


def test_a_change_of_a_cost_is_found_where_it_was(written: Path) -> None:
    found = run_trends(written, "nginx/kernel server_cpu_total")
    assert (found.single, found.unanswered, found.older) == (0, 0, RUNS)
    assert {trend.of.figure for trend in found.trends} == {"server_cpu_total"}
    half = sorted(path.name for path in written.iterdir())[RUNS // 2]
    changed = [trend for trend in found.trends if len(trend.groups) == 2]
    assert changed and all(trend.groups[1].measurements[0].name == half for trend in changed)
    size = changed[0].groups[1].change
    assert size and size.ratio and size.ratio == pytest.approx(STEP, abs=0.05)


def test_loads_that_each_run_searched_are_joined_by_their_share(results: Path) -> None:
    for at, run in enumerate(sorted(results.iterdir())):
        manifest, summary = (json.loads((run / name).read_text()) for name in FILES)
        rates = []
        for server in summary["servers"]:
            for level in server["levels"]:
                level["offered_cps"] += at  # each run finds another ceiling
                rates.append(level["offered_cps"])
        manifest["experiment"]["load"] = {"offered_shares": [0.25, 0.5, 0.75][: len(set(rates))]}
        manifest["loads_found"] = {"ceilings": {}, "offered_cps": sorted(set(rates))}
        for name, content in zip(FILES, (manifest, summary), strict=True):
            (run / name).write_text(json.dumps(content))
    found = run_trends(results, "nginx/kernel server_cpu_total")
    assert found.single == 0
    assert "at 25% of the ceiling" in str(found.trends[0].of)
    assert {sum(len(g.measurements) for g in each.groups) for each in found.trends} == {RUNS}


def test_only_the_answer_of_today_is_current(results: Path) -> None:
    run = store(results)
    assert run_trends(results).unanswered == 1
    summarise_again(run)
    found = run_trends(results)
    assert (found.unanswered, found.older) == (0, RUNS)
    add = RunFolder(run.path)
    trial = add.trials()[0]
    trial.number = add.next_number()
    add.add_trial(trial)
    assert run_trends(results).older == RUNS + 1


def test_the_command_shows_trends_of_a_folder(written: Path) -> None:
    said = CliRunner().invoke(app, ["trend", str(written), "--only", "memory.total"])
    assert said.exit_code == 0 and "memory.total" in said.output, said.output
    assert "server_cpu" not in said.output and f"{RUNS} runs with an answer that" in said.output


def test_a_folder_without_answers_has_no_trend(results: Path) -> None:
    for run in results.iterdir():
        (run / "summary.json").unlink(missing_ok=True)
    shutil.rmtree(min(results.iterdir()))
    assert len(list_runs(results)) == RUNS - 1
    assert run_trends(results).unanswered == RUNS - 1


def test_to_list_new_runs_imports_no_pandas(written: Path, tmp_path: Path) -> None:
    """It takes a second, and the command half of one."""
    shutil.copytree(next(written.iterdir()), tmp_path / "run")
    program = "import sys; from pathlib import Path; from stackcost.report.listing import *\n"
    program += "print(len(list_runs(Path(sys.argv[1]))), 'pandas' in sys.modules)"
    command = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "1 False\n"


def test_a_run_whose_process_has_ended_is_not_listed_as_running(tmp_path: Path) -> None:
    program = "import sys; from pathlib import Path; from stackcost.store import *\n"
    program += (
        "run = RunFolder.create(Path(sys.argv[1]), 'x'); run.write_manifest(Manifest(run='x'))"
    )
    program += "\nprint(flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", program, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as measuring:
        assert measuring.stdout and measuring.stdout.readline()
        assert [run["state"] for run in list_runs(tmp_path)] == ["running"]
        measuring.kill()
    assert [run["state"] for run in list_runs(tmp_path)] == ["unfinished"]
