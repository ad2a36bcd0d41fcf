"""What was not served comes first, from the worst trial, and is left out nowhere."""

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from stackcost.analysis.readings import Readings
from stackcost.analysis.summarise import summarise
from stackcost.analysis.summary import Summary
from stackcost.analysis.trial.flags import failures_of, flags_of
from stackcost.contracts.counts import FramesPassed
from stackcost.contracts.trial import Trial
from stackcost.report.answers import ceiling_answer, trust_answer
from stackcost.report.difference import Side, difference
from stackcost.report.flags import flag_lines
from stackcost.report.library.export import table
from stackcost.report.results.stored import summary_of
from stackcost.report.terminal import print_answer
from stackcost.store import Manifest
from tests.analysis.runs import CONTEXT, compared
from tests.analysis.trials import add_other_program, load_trial
from tests.report.opened import first_text, opened
from tests.report.stored import store

WORST = "8 of 20 trials: 9,000 of 20,000 connections failed (trial 20, astf-peer)"
LOST = "1 of 20 trials: 3,000 of 4,000 frames to servers were lost in the device (trial 20"


def trials() -> list[Trial]:
    """A few connections fail in every load trial, half in the last one, where the cause is seen."""
    made = compared(2)
    for trial in made:
        if trial.offered_cps:
            add_other_program(trial, 0.4)
            trial.load.client |= {"tcps_drops": 3, "tcps_timeoutdrop": 3}
    made[-1].load.client |= {"tcps_drops": 9_000, "tcps_timeoutdrop": 9_000}
    made[-1].load.frames = {"to servers": FramesPassed(4_000, 4_000, 1_000, 1_000)}
    return made


@pytest.fixture(scope="module")
def summary() -> Summary:
    return summarise(trials(), CONTEXT)


def test_the_worst_trial_is_quoted_and_its_cause_comes_before_what_more_trials_have(
    summary: Summary,
) -> None:
    lines = [line.strip() for line in flag_lines(summary) if line.startswith("  ")]
    assert lines[0] == WORST and lines[1].startswith(LOST), lines


def test_no_failure_is_among_the_reasons_that_are_left_out(summary: Summary) -> None:
    kinds = [f"{'abcdefghi'[at]} was not served" for at in range(9)]
    rows = [row.model_copy(update={"failures": kinds, "flags": kinds}) for row in summary.trials]
    said = "\n".join(flag_lines(summary.model_copy(update={"trials": rows})))
    assert all(kind in said for kind in kinds)


def test_the_long_answer_names_every_trial_that_failed_before_all_else(summary: Summary) -> None:
    written = io.StringIO()
    print_answer(summary, Console(file=written, width=400), long=True)
    lines = re.findall(r"^  trial (\d+), .*$", written.getvalue(), re.MULTILINE)
    assert lines[:8] == ["4", "5", "9", "10", "14", "15", "19", "20"]


def test_report_and_notebook_begin_with_what_failed(summary: Summary) -> None:
    for text in (first_text(summary), trust_answer(opened(summary))):
        said = text[text.index("**Not served as asked") :]
        assert said.index(WORST) < said.index(LOST)
    assert "Not served" not in first_text(summarise(compared(2), CONTEXT))


def test_a_difference_says_what_each_side_did_not_serve(summary: Summary) -> None:
    whole = summarise(compared(2), CONTEXT)
    a, b = (Side(Manifest(run=name), of, "") for name, of in (("a", whole), ("b", summary)))
    told = difference(a, b).failures
    assert told[0] == f"B: {WORST}" and all(line.startswith("B: ") for line in told)


def test_an_export_begins_each_load_with_its_failed_connections(tmp_path: Path) -> None:
    rows = table(summary_of(store(tmp_path, trials())))
    failed = rows[rows["figure"] == "failed"]
    assert failed["value"].tolist()[-1] == 9_000 and failed["value"].tolist()[0] == 3
    loads = rows.dropna(subset="offered_cps").groupby(["system", "offered_cps"])
    assert set(loads["figure"].first()) == {"failed"} and loads.ngroups == 4


def test_trials_that_are_not_used_are_told_by_their_reasons(summary: Summary) -> None:
    """A search's trials were called disturbed, and eight repeats all trial 24."""
    search = "a trial of the search for the load"
    reasons = [search] * 3 + [f"disturbed; repeated as trial {number}" for number in (24, 31)]
    rows = [
        row.model_copy(update={"set_aside": reason})
        for row, reason in zip(summary.trials, reasons + [""] * len(summary.trials), strict=False)
    ]
    aside = summary.model_copy(update={"trials": rows})
    told = f"5 more trials not used: 3 ({search}), 2 (disturbed and repeated)"
    assert told in flag_lines(aside) and told in first_text(aside)
    assert told in trust_answer(opened(aside))


def test_a_ceiling_that_was_found_for_the_loads_is_not_denied(summary: Summary) -> None:
    found = summary.model_copy(update={"ceilings": {"nginx/kernel": 4_000.0}})
    answer = ceiling_answer(opened(found))
    assert answer.startswith("**Ceiling of nginx/kernel, found before the first round: 4,000 conn")


def test_one_of_a_thing_is_singular_and_the_same_kind_as_several(summary: Summary) -> None:
    """ "1 segments retransmitted", and beside it the other trials' as a kind of its own."""
    told = ["1 segment retransmitted", "5 segments retransmitted", "1,200 segments retransmitted"]
    rows = [
        row.model_copy(update={"flags": [words], "failures": []})
        for row, words in zip(summary.trials, told, strict=False)
    ]
    lines = flag_lines(summary.model_copy(update={"trials": rows}))
    assert sum("retransmitted" in line for line in lines) == 1
    assert any("3 of 3 trials: 1 segment retransmitted (trial" in line for line in lines)
    trial = load_trial()
    trial.load.client |= {"tcps_sndrexmitpack": 1}
    assert flags_of(Readings(trial, (1,))) == ["1 segment retransmitted"]


def test_what_was_sent_again_and_served_is_a_doubt_and_no_failure() -> None:
    """ "Not served as asked: 0 of 10,769 SYNs were not answered", where all had been served."""
    trial = load_trial()
    trial.load.client |= {"tcps_rexmttimeo_syn": 2}
    seen = Readings(trial, (1,))
    words = "2 of 10,000 SYNs were retransmitted, and no counter shows where they or their answers"
    assert failures_of(seen) == []
    assert any(line.startswith(words) for line in flags_of(seen))
    trial.load.cut_flows = 1
    assert any(line.startswith(words) for line in failures_of(Readings(trial, (1,))))
