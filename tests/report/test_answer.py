import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from stackcost.analysis.spread import Spread, spread
from stackcost.analysis.summarise import summarise
from stackcost.analysis.summary import Summary
from stackcost.contracts.errors import StackcostError
from stackcost.contracts.trial import CUT_SHORT
from stackcost.report import story
from stackcost.report.flags import flag_lines
from stackcost.report.notebook import fitting
from stackcost.report.results.computed import summarise_again
from stackcost.report.results.opened import open_runs
from stackcost.report.results.stored import ONE_CORE, describe_setting
from stackcost.report.terminal import answer, print_answer
from stackcost.report.words import LatencyUnit
from stackcost.store import Manifest, RunFolder
from tests.analysis.runs import CONTEXT, compared, context_with
from tests.report.cells import shown
from tests.report.opened import opened
from tests.report.stored import store


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunFolder, str]:
    """One stored run, and its answer on a terminal."""
    run = store(tmp_path_factory.mktemp("results"))
    written = io.StringIO()
    print_answer(summarise_again(run), Console(file=written, width=160))
    return run, written.getvalue()


def test_the_terminal_shows_both_servers_and_both_factors(answered: tuple[RunFolder, str]) -> None:
    text = answered[1]
    assert re.search(r"nginx/kernel │ 2,000 +│ 2,000 +│ 100 ", text)
    assert re.search(r"astf-peer +│ 2,000 +│ 2,000 +│ 10", text)
    of = r"nginx/kernel : astf-peer │"
    found = re.search(
        rf"CPU, us +│ {of} 2,000 connections/s +│ ([\d.]+) +│ ([\d.]+) +│ ([\d.]+)x", text
    )
    assert found
    first, second, factor = map(float, found.groups())
    assert factor == pytest.approx(first / second, rel=0.02), "the row divides"
    assert re.search(rf"memory, bytes │ {of} slope over 0 to 5,000 open flows │", text)
    assert "checks: 54 hold, 0 fail, 18 were not possible" in text


def test_the_answer_fits_one_screen_and_long_has_every_table(
    answered: tuple[RunFolder, str],
) -> None:
    assert len(answered[1].splitlines()) <= 40 and "Latency from" not in answered[1]
    summary = Summary.model_validate(answered[0].summary())
    written = io.StringIO()
    print_answer(summary, Console(file=written, width=160), long=True)
    for title in ("CPU per completed connection", "Latency from", "bytes per open flow (slope"):
        assert title in written.getvalue()


def test_a_reason_is_reported_once_with_the_number_of_its_trials() -> None:
    trials = compared(1)
    slower = "the server's cores were {} slower than at full speed"
    flags = {1: slower.format("3.1%"), 2: slower.format("36.5%"), 3: "cut short"}
    summary = summarise(trials, CONTEXT)
    rows = [
        row.model_copy(update={"flags": [flags[row.number]] if row.number in flags else []})
        for row in summary.trials
    ]
    said = printed(summary.model_copy(update={"trials": rows}))
    assert f"2 of {len(trials)} trials: {slower.format('3.1%')} (trial 1, nginx/kernel)" in said
    assert f"1 of {len(trials)} trials: cut short" in said and "36.5%" not in said


def test_a_table_of_latency_is_in_one_unit() -> None:
    def percentile(us: float) -> Spread:
        return spread([us, 2 * us], "us")

    short, long = percentile(23), percentile(1_048_575)
    unit = LatencyUnit([short, percentile(6000)])
    assert (unit.unit, unit.with_range(short)) == ("us", "34.5 (23-46)")
    unit = LatencyUnit([short, long])
    assert unit.unit == "ms" and unit.median(short) == "0.03"
    assert unit.with_range(long) == "1,573 (1,049-2,097)"


def test_an_answer_says_what_its_loads_are_shares_of() -> None:
    summary = summarise(compared(1), context_with(ceilings={"nginx/kernel": 4000.0}))
    said = printed(summary)
    assert (
        "Ceiling of nginx/kernel, found before the first round: 4,000 connections/s. The loads are "
        "shares of it: 1,000 (25%), 2,000 (50%)."
    ) in said
    lowered = summary.model_copy(update={"loads_not_held": {"nginx/kernel": [3300.0]}})
    assert "A trial of the highest load did not hold 3,300, so it was lowered." in printed(lowered)
    assert "2,000 connections/s, 50% of the ceiling of nginx/kernel" in said
    assert "4,000 connections/s" in story.of_runs(opened(summary))
    assert "found before the first" not in printed(summary.model_copy(update={"ceilings": {}}))


def printed(summary: Summary) -> str:
    written = io.StringIO()
    print_answer(summary, Console(file=written, width=1000))
    return " ".join(written.getvalue().split())  # a title is broken where its table ends


def without_a_page(run: RunFolder) -> tuple[str, Summary]:
    """A run answered but for rendering; every notebook's cells run."""
    written = io.StringIO()
    summary = summarise_again(run)
    assert isinstance(summary, Summary)
    print_answer(summary, Console(file=written, width=160))
    for name in fitting(open_runs([run.path])):
        assert shown(name, [run.path])
    return written.getvalue(), summary


def test_an_interrupted_run_is_answered_and_says_so(tmp_path: Path) -> None:
    trials = [trial for trial in compared(1) if trial.server == "nginx/kernel"]
    trials[-1].phases.clear()
    trials[-1].load.client = {}
    trials[-1].set_aside = CUT_SHORT
    run = store(tmp_path, trials, state="interrupted")
    written, summary = without_a_page(run)
    assert summary.state == "interrupted"
    assert "this run was interrupted" in written and "cut short" in written
    assert "This run was interrupted." in story.title(opened(summary))


def test_a_run_cut_short_in_its_first_trial_is_answered_all_the_same(tmp_path: Path) -> None:
    trial = next(trial for trial in compared(1) if trial.offered_cps)
    trial.phases.clear()
    trial.load.client = {}
    run = store(tmp_path, [trial], state="interrupted")
    written, summary = without_a_page(run)
    assert "this run was interrupted" in written
    assert "This run was interrupted." in story.title(opened(summary))


def test_a_run_without_a_trial_is_one_clear_message(tmp_path: Path) -> None:
    run = store(tmp_path, [])
    with pytest.raises(StackcostError, match="contains no trial: the run ended before its first"):
        answer(run, Console(file=io.StringIO()))
    lacks = {"nginx/onload-balanced": "host b: it lacks its kernel modules"}
    run.write_manifest(run.manifest().model_copy(update={"not_measured": lacks}))
    why = "no trial: nginx/onload-balanced was not measured: host b: it lacks its kernel modules"
    with pytest.raises(StackcostError, match=why):
        answer(run, Console(file=io.StringIO()))


@pytest.mark.parametrize(
    ("core_of_server", "told"), [(0, True), (1, False)], ids=["siblings", "cores of their own"]
)
def test_hardware_threads_of_one_core_on_both_sides_are_a_doubt(
    core_of_server: int, told: bool
) -> None:
    places = {
        str(cpu): {"node": 0, "core": core, "thread": 0}
        for cpu, core in ((0, 0), (1, core_of_server))
    }
    experiment = {"cores": {"load": [0], "server": [1]}}
    machine = {"processors": {"places": places}}
    manifest = Manifest(run="made", state="complete", experiment=experiment, machine=machine)
    setting = describe_setting(manifest)
    assert setting.get(ONE_CORE) == ("1 with 0" if told else None)
    summary = Summary.model_construct(trials=[], servers=[], state="complete", machine=setting)
    assert told == any(
        "share physical cores (CPU 1 with 0)" in line for line in flag_lines(summary)
    )
