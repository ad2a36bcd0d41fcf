"""The first screen of a report has the answer and its doubts, whatever kind of run it is of."""

from pathlib import Path

import pytest
from rich.console import Console

from stackcost.analysis.ceiling.controller import search
from stackcost.analysis.ceiling.settings import settings_for
from stackcost.analysis.ceiling.summarise import summarise_ceilings
from stackcost.analysis.event_summary import summarise_events
from stackcost.analysis.remedies import AWAKE
from stackcost.report.answer import summarise_again
from stackcost.report.ceiling import print_ceilings
from stackcost.report.device import print_events
from stackcost.report.first_screen import first_screen
from stackcost.report.opened import AnySummary, OpenedRuns, open_runs
from stackcost.report.stored import ONE_CORE
from stackcost.store import Manifest
from tests.device.event_trials import PLAN, event_trial
from tests.report.counted import store_counted
from tests.search.simulated import Simulated, plan_of

SHARED = {ONE_CORE: "1 with 0"}


def screen(summary: AnySummary) -> str:
    runs = OpenedRuns()
    runs.add(Manifest(run=summary.run), summary)
    return "\n\n".join(part for part in first_screen(runs) if isinstance(part, str))


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
    for said in (screen(found).partition("## Its doubts")[2], capsys.readouterr().out):
        assert told in said and repeated in said
        assert "share physical cores (CPU 1 with 0)" in said


def test_of_events_it_says_what_the_machine_did(capsys: pytest.CaptureFixture[str]) -> None:
    trials = [event_trial(4.0, 11.0), event_trial(4.0, 11.0)]
    trials[0].suspended_s = 5.0
    found = summarise_events(trials, "a run", PLAN, "complete", SHARED)
    print_events(found, Console(width=500))
    for said in (screen(found).partition("## Its doubts")[2], capsys.readouterr().out):
        assert "1 of 2 trials: the machine was suspended for 5.0 s (trial 1, dut/test)" in said
        assert f"{AWAKE}." in said and "share physical cores (CPU 1 with 0)" in said
    assert [bool(each.flags) for each in found.used_trials()] == [True, False]


def test_of_counts_it_has_the_answer_in_instructions(tmp_path: Path) -> None:
    run = store_counted(tmp_path, {"nginx/kernel": [0, 10]})
    summarise_again(run)
    (head, answer, doubts) = first_screen(open_runs([run.path]))
    assert isinstance(answer, str) and "takes these instructions: 110,005" in answer
    assert "No CPU cost" not in answer and isinstance(doubts, str)
    assert doubts.startswith("## Its doubts") and isinstance(head, str)
