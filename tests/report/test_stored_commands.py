"""ls, show, diff and export on stored runs with known answers; no test bed."""

import json
import re
from pathlib import Path

import pandas
import pytest
from typer.testing import CliRunner, Result

from stackcost.analysis.ceiling.settings import settings_for
from stackcost.cli.entry import app
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.load import ConstantLoad
from stackcost.store import RunFolder
from tests.analysis.runs import compared
from tests.analysis.trials import gauge
from tests.report.counted import store_counted
from tests.report.stored import MACHINE, store
from tests.search.simulated import plan_of


def invoked(*arguments: str) -> Result:
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done


def stackcost(*arguments: str) -> str:
    return invoked(*arguments).stdout


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return store(tmp_path_factory.mktemp("results"), compared(rounds=8))


def test_runs_are_listed_with_their_state_also_an_unreadable_one(tmp_path: Path) -> None:
    store(tmp_path, state="interrupted")
    (tmp_path / "zz-broken").mkdir()
    (tmp_path / "zz-broken" / "manifest.json").write_text("{")
    first, second = json.loads(stackcost("ls", str(tmp_path), "--json"))
    assert (first["state"], first["trials"]) == ("interrupted", len(compared()))
    assert second["run"] == "zz-broken" and second["state"].startswith("unreadable")


def test_two_systems_of_a_run_differ_by_the_known_factor(run: RunFolder) -> None:
    said = json.loads(stackcost("diff", f"{run.path}#astf-peer", "#nginx/kernel", "--json"))
    by_figure = {(each["figure"], each["at"]): each for each in said["comparisons"]}
    for at, verdict in (("every load, by pairs of turns", "dearer"), ("2,000/s", "not judged")):
        cpu = by_figure["server_cpu_total", at]
        assert cpu["ratio"] == pytest.approx(10, rel=0.05) and cpu["verdict"] == verdict
        assert cpu["low"] < cpu["ratio"] < cpu["high"]
    assert by_figure["memory.total", "open flows"]["verdict"] == "dearer"
    assert by_figure["completed_cps", "2,000/s"]["verdict"] == "not judged"


def test_kernels_of_two_emulated_hosts_are_compared_by_bytes_and_marked(tmp_path: Path) -> None:
    runs = []
    for host, release in (("old", "6.1.0"), ("new", "6.12.1")):
        trials = compared(rounds=6)
        for trial in trials:
            trial.samples += gauge("machine.guest", [1.0] * 5, {"by": "emulation"})
        run = store(tmp_path / host, trials)
        machine = MACHINE | {"kernel": {"release": release}, "interrupts": [{"name": release}]}
        bed = {"nginx/kernel": {"hosts": {host: {"machine": machine}}}}
        run.write_manifest(run.manifest().model_copy(update={"test_bed": bed}))
        runs.append(str(run.path))
    said = stackcost("diff", *runs)
    assert "host old and new: kernel.release: 6.1.0 -> 6.12.1" in said
    assert "interrupts: 1 differences" in said
    assert all(f"guest: {side}: measured in an emulated guest" in said for side in "AB")
    judged = json.loads(stackcost("diff", *runs, "--json"))["comparisons"]
    verdicts = {(each["figure"], each["at"]): each["p_corrected"] for each in judged}
    assert verdicts["nginx/kernel: memory.total", "open flows"] is not None
    costs = [each for each in judged if each["figure"].endswith("nginx/kernel: server_cpu_total")]
    assert all(each["ratio"] is None for each in costs), "no cost of an emulator"


def test_several_runs_of_each_side_tell_how_far_runs_are_apart(tmp_path: Path) -> None:
    run = store(tmp_path, compared(rounds=2))
    three = ",".join([str(run.path)] * 3)
    said = stackcost("diff", f"{three}#nginx/kernel", f"{three}#nginx/kernel")
    assert "no difference shown" in said and "by the 3 and 3 runs" in said
    assert f"A: {', '.join([run.name] * 3)}, nginx/kernel" in said


def test_a_run_against_itself_shows_no_difference(run: RunFolder) -> None:
    said = stackcost("diff", str(run.path), str(run.path))
    assert "no difference shown in 4 figures" in said.splitlines()[-1]


def test_costs_at_different_loads_are_not_compared_and_that_is_said(tmp_path: Path) -> None:
    trials = compared(rounds=1)
    one = store(tmp_path / "a", trials)
    for trial in trials:
        if isinstance(trial.load, ConstantLoad):
            trial.load.offered_cps *= 1.1
    other = store(tmp_path / "b", trials)
    told = " ".join(stackcost("diff", str(one.path), str(other.path)).split())
    assert (
        "not compared: CPU per connection: A measured nginx/kernel at 1,000, 2,000 connections/s, "
        "B nginx/kernel at 1,100, 2,200; set the same load.offered_cps for both"
    ) in told


def test_a_system_that_is_not_there_is_named_with_those_that_are(run: RunFolder) -> None:
    with pytest.raises(StackcostError, match="no system 'other'") as caught:
        stackcost("diff", f"{run.path}#other", str(run.path))
    assert "nginx/kernel" in caught.value.hint


@pytest.mark.parametrize("form", ["csv", "parquet", "json"])
def test_every_format_has_the_same_rows_with_units_and_definitions(
    run: RunFolder, tmp_path: Path, form: str
) -> None:
    file = tmp_path / f"figures.{form}"
    stackcost("export", str(run.path), "--format", form, "--out", str(file))
    table: pandas.DataFrame = getattr(pandas, f"read_{form}")(file)
    memory = table[(table.system == "nginx/kernel") & (table.figure == "memory.total")]
    assert list(memory["round"]) == list(range(1, 9)) and set(memory.unit) == {"B"}
    assert memory.value.median() == pytest.approx(4120, rel=0.01)
    assert memory.offered_cps.isna().all() and "sum of the slopes" in memory.definition.iloc[0]


def test_show_prints_the_answer_and_how_the_run_ended(run: RunFolder) -> None:
    said = stackcost("show", str(run.path))
    assert re.search("CPU, us +│ nginx/kernel : astf-peer", said) and "state: complete" in said
    assert json.loads(stackcost("show", str(run.path), "--json"))["run"] == run.name


def test_two_runs_become_one_page_of_one_notebook_where_it_is_wanted(tmp_path: Path) -> None:
    runs = [store(tmp_path / "results", compared()) for _ in range(2)]
    page = tmp_path / "both.html"
    wanted = ["--out", str(page), "--only", "compare_runs"]
    done = invoked("report", *(str(run.path) for run in runs), *wanted)
    assert done.stdout.splitlines()[-1] == str(page)
    doing = done.stderr
    assert all(f"computing the results of {run.path}" in doing for run in runs)
    assert f"executing the notebooks for {page}: compare_runs\n" in doing
    text = page.read_text()
    assert all(run.name in text for run in runs)
    assert 'id="compare_runs"' in text and 'id="trust"' not in text
    assert "No difference shown" in text and "Traceback" not in text
    for run in runs:
        assert run.summary()["run"] == run.name
        assert not (run.path / "report.html").exists(), "one page, and only there"


def test_a_report_of_what_is_no_run_names_it(run: RunFolder, tmp_path: Path) -> None:
    with pytest.raises(StackcostError, match="is not a run's folder"):
        stackcost("report", str(run.path), str(tmp_path), "--out", str(tmp_path / "page.html"))
    assert not (tmp_path / "page.html").exists()


def refused(*arguments: str) -> StackcostError:
    with pytest.raises(StackcostError) as error:
        stackcost(*arguments)
    return error.value


@pytest.mark.parametrize("command", [["show"], ["report"], ["diff", "#nginx/kernel"]])
def test_what_is_no_run_is_told_with_the_command_that_lists_runs(
    tmp_path: Path, run: RunFolder, command: list[str]
) -> None:
    (tmp_path / "empty").mkdir()
    ends = {
        tmp_path / "empty": ("it has no manifest.json", tmp_path),
        tmp_path / "absent": ("it does not exist", tmp_path),
        tmp_path / "no" / "where": ("it does not exist", Path("results")),
        run.path.parent: (f"but one of runs; the latest is {run.path}", run.path.parent),
    }
    for place, (words, listed) in ends.items():
        error = refused(command[0], str(place), *command[1:])
        assert error.what.endswith(words) and error.hint.endswith(f"stackcost ls {listed}")


def test_a_run_without_trials_or_with_a_damaged_manifest_says_what_helps(tmp_path: Path) -> None:
    run = store(tmp_path, trials=[])
    command = ["/usr/bin/stackcost", "run", "my plan.yaml", "--quick"]
    run.write_manifest(run.manifest().model_copy(update={"command": command}))
    error = refused("show", str(run.path))
    assert "contains no trial" in error.what
    assert error.hint == "to measure it again, run: stackcost run 'my plan.yaml' --quick"
    for content in ("", "{", "[]", '{"format": "stackcost-run/8", "systems": 3}'):
        (run.path / "manifest.json").write_text(content)
        error = refused("show", str(run.path))
        assert "is damaged" in error.what and f"stackcost ls {tmp_path}" in error.hint


def test_runs_of_two_kinds_or_loads_say_what_each_of_them_has(
    tmp_path: Path, run: RunFolder
) -> None:
    other = store_counted(tmp_path, {"nginx/kernel": [0, 10], "lighttpd/kernel": [5, 5]})
    error = refused("diff", str(run.path), str(other.path))
    assert "A has costs of nginx/kernel, astf-peer at 1,000, 2,000/s" in error.what
    assert "B has costs of nginx/kernel, lighttpd/kernel at 500/s" in error.what
    plan = plan_of(settings_for("connections"))
    searched = store(tmp_path, compared())
    kind = {"kind": "ceilings", "experiment": searched.manifest().experiment | plan}
    searched.write_manifest(searched.manifest().model_copy(update=kind))
    error = refused("diff", str(run.path), str(searched.path))
    assert "B has ceilings of no system" in error.what and "RUN_A#SYSTEM" in error.hint


def test_a_trend_of_nothing_says_what_is_missing(tmp_path: Path, run: RunFolder) -> None:
    said = stackcost("trend", str(tmp_path))
    assert "has no run; stackcost run EXPERIMENT makes one" in said
    assert f"stackcost trend {run.path.parent}" in stackcost("trend", str(run.path))
    assert "no figure was measured twice in" in stackcost("trend", str(run.path.parent))
    assert "no figure with 'xyz' in" in stackcost("trend", str(run.path.parent), "--only", "xyz")
    assert "a folder of runs, such as results" in refused("trend", str(tmp_path / "absent")).hint
