"""The first screen of a report has the answer and its doubts, whatever kind of run it is of."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from stackcost.analysis.ceiling.controller import search
from stackcost.analysis.ceiling.settings import settings_for
from stackcost.analysis.ceiling.summarise import summarise_ceilings
from stackcost.analysis.device.event_summary import summarise_events
from stackcost.analysis.summarise import summarise
from stackcost.analysis.trial.checks import Check
from stackcost.analysis.trial.remedies import AWAKE
from stackcost.cli.dut import _report
from stackcost.report.answers import cpu_answer
from stackcost.report.ceiling import print_ceilings
from stackcost.report.device import print_events
from stackcost.report.first_screen import first_screen
from stackcost.report.flags import flag_lines
from stackcost.report.results.computed import summarise_again
from stackcost.report.results.opened import OpenedRuns, open_runs
from stackcost.report.results.stored import ONE_CORE
from stackcost.store import Manifest
from tests.analysis.runs import CONTEXT, compared
from tests.device.event_trials import PLAN, event_trial
from tests.report.counted import store_counted
from tests.report.opened import first_text, opened
from tests.report.stored import store
from tests.report.test_busy_machine import disturbed
from tests.search.simulated import Simulated, plan_of

SHARED = {ONE_CORE: "1 with 0"}


def test_of_searches_it_says_what_disturbed_them(capsys: pytest.CaptureFixture[str]) -> None:
    settings = settings_for("connections")
    system = Simulated(7_400, hiccup=0.6)
    search(settings, system.measure)
    found = summarise_ceilings(system.trials, "a run", plan_of(settings), "complete", SHARED)
    rows = found.ceilings[0].trace
    decisive = [row for row in rows if row.decisive]
    stolen = sum("stolen" in row.disturbed for row in decisive)
    told = f"{stolen} of {len(decisive)} trials: stolen (trial "
    repeated = f"{len(rows) - len(decisive)} more trials disturbed and repeated"
    print_ceilings(found, Console(width=500))
    for said in (first_text(found).partition("## Its doubts")[2], capsys.readouterr().out):
        assert told in said and repeated in said
        assert "share physical cores (CPU 1 with 0)" in said


def test_of_searches_the_bounds_alone_are_bold_and_a_busy_machine_is_told_before() -> None:
    settings, system = settings_for("connections"), Simulated(7_400, hiccup=1.0)
    search(settings, system.measure)
    found = summarise_ceilings(system.trials, "a run", plan_of(settings), "complete", {})
    told = first_text(found)
    before, _, answer = told.partition("## The answer\n\n")
    rows = [row for row in found.ceilings[0].trace if row.decisive]
    disturbed = sum(bool(row.disturbed) for row in rows)
    assert f"**The machine was not quiet: {disturbed} of {len(rows)} trials were" in before
    bold = answer.partition("## ")[0].split("**")[1]
    assert "NDR" in bold and "Bottleneck" not in bold and "true ceiling" not in bold


def test_of_events_it_says_what_the_machine_did(capsys: pytest.CaptureFixture[str]) -> None:
    trials = [event_trial(4.0, 11.0), event_trial(4.0, 11.0)]
    trials[0].suspended_s = 5.0
    found = summarise_events(trials, "a run", PLAN, "complete", SHARED)
    print_events(found, Console(width=500))
    for said in (first_text(found).partition("## Its doubts")[2], capsys.readouterr().out):
        assert "1 of 2 trials: the machine was suspended for 5.0 s (trial 1, dut/test)" in said
        assert f"{AWAKE}." in said and "share physical cores (CPU 1 with 0)" in said
    assert [bool(each.flags) for each in found.used_trials()] == [True, False]


def test_of_counts_it_has_the_answer_in_instructions(tmp_path: Path) -> None:
    run = store_counted(tmp_path, {"nginx/kernel": [0, 10]})
    summarise_again(run)
    (head, answer, doubts, _) = first_screen(open_runs([run.path]))
    assert isinstance(answer, str) and "Instructions of one connection: 110,005" in answer
    assert "No CPU cost" not in answer and isinstance(doubts, str)
    assert doubts.startswith("## Its doubts") and isinstance(head, str)


def test_of_an_interrupted_set_it_says_so_and_names_the_run_of_each_doubt(tmp_path: Path) -> None:
    """ "** in the middle.**" was the answer after Ctrl-C in the third of three runs."""
    system, settings = Simulated(7_400, hiccup=0.6), settings_for("connections")
    search(settings, system.measure)
    events = summarise_events([], "events", PLAN, "interrupted", {})
    searches = summarise_ceilings(system.trials, "ceilings", plan_of(settings), "complete", SHARED)
    costs = summarise(disturbed(0.8), CONTEXT)
    runs = OpenedRuns()
    for summary in (costs, searches, events):
        runs.add(Manifest(run=summary.run), summary)
    said = "\n\n".join(part for part in first_screen(runs) if isinstance(part, str))
    names = {ceiling.server for ceiling in searches.ceilings}
    assert f"**{names.pop()} in the middle.**" in said
    assert "**events: This run was interrupted.**" in said.partition("## The answer")[0]
    doubts = said.partition("## Its doubts\n\n")[2].partition("\n\n")[0].splitlines()
    begins = (f"- {costs.title}: ", f"- {searches.title}: ")
    assert doubts and all(line.startswith(begins) for line in doubts)


def test_the_terminal_has_the_answer_of_each_run_of_a_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stackcost.report.extra.can_render", lambda console: False)
    printed = io.StringIO()
    _report([store(tmp_path)], Console(file=printed, width=200))
    assert "\nOne HTTP connection: nginx" in printed.getvalue()
    assert "Cost factors: median" in printed.getvalue()


def test_costs_at_different_loads_are_not_put_beside_each_other() -> None:
    """75 us at 4,300/s and 36 at 8,500 were one sentence, and two bars."""
    both = summarise(compared(), CONTEXT)
    assert {server.headline for server in both.servers} == {2000.0}
    lost = compared()
    for trial in lost:  # the peer loses at the higher load, so the lower one is quoted of both
        if trial.server == "astf-peer" and trial.offered_cps == 2000:
            trial.load.client |= {"tcps_drops": 900}
    assert {each.headline for each in summarise(lost, CONTEXT).servers} == {1000.0}
    apart = [t for t in compared() if t.offered_cps != (1000 if t.server == "astf-peer" else 2000)]
    answer = cpu_answer(opened(summarise(apart, CONTEXT)))
    assert "**These are different loads, so they are not compared**" in answer
    assert answer.startswith("One connection takes ") and " nginx/kernel at 1,000/s. " in answer


def test_a_check_that_fails_is_told_however_many_other_doubts_there_are() -> None:
    found = summarise(compared(), CONTEXT)
    kinds = [f"{letter} was seen" for letter in "abcdefgh"]
    rows = [row.model_copy(update={"flags": kinds}) for row in found.trials]
    failed = Check(name="books", holds=False, wanted="1", seen="2")
    rows[3] = rows[3].model_copy(update={"checks": [failed]})
    lines = flag_lines(found.model_copy(update={"trials": rows}))
    assert any(f"{len(rows)} trials: books: expected 1, found 2" in line for line in lines)
