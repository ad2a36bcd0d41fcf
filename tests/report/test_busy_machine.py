"""An answer whose trials were mostly disturbed begins with that, and blames no server."""

import io

import pytest
from rich.console import Console

from stackcost.analysis.comparing.factors import headline
from stackcost.analysis.readings import Readings
from stackcost.analysis.summarise import summarise
from stackcost.analysis.summary import Summary
from stackcost.analysis.trial.flags import disturbances
from stackcost.analysis.trial.remedies import HOST, PROGRAMS
from stackcost.contracts.trial import Trial
from stackcost.report.flags import mostly_disturbed
from stackcost.report.short_tables import unknown_factors
from stackcost.report.terminal import print_screen
from tests.analysis.runs import CONTEXT, SYSTEMS, compared
from tests.analysis.trials import add_other_program, counter, load_trial
from tests.report.opened import first_text

WORDS = "The machine was not quiet: 9 of 12 trials were disturbed, most often so: the machine"


def disturbed(share: float) -> list[Trial]:
    trials = compared()
    for trial in trials[: round(share * len(trials))]:
        trial.suspended_s = 5.0
    return trials


def screen(summary: Summary) -> str:
    written = io.StringIO()
    print_screen(summary, Console(file=written, width=500))
    return written.getvalue()


def test_the_terminal_and_the_report_begin_with_it() -> None:
    busy, sound = (summarise(disturbed(share), CONTEXT) for share in (0.8, 0.4))
    assert screen(busy).startswith(WORDS)
    short = WORDS.partition(", most often")[0]
    told = first_text(busy)
    assert told.startswith(f"# {busy.title}\n\n**{short}.**\n\n## The answer")
    assert f"## Its doubts\n\n- {WORDS}" in told
    assert "machine was not quiet" not in screen(sound) + first_text(sound)


def test_no_load_is_said_to_be_above_a_ceiling_by_disturbed_trials() -> None:
    """12 of 12 trials said that others took 98 % of the cores, and the answer that nginx was slow.

    A newcomer then lowers the load, in vain.
    """
    for share, told in ((0.8, "trials were disturbed (the machine was suspended"), (0.0, "every")):
        seen = [Readings(trial, (1,)) for trial in disturbed(share)]
        past = {
            each.trial.number: "59 segments retransmitted"
            for each in seen
            if not each.trial.traffic.holds
        }
        found = headline(seen, SYSTEMS, {}, past)
        assert found.rate is None and told in found.words


def test_an_unknown_factor_is_at_nothing() -> None:
    trials = [trial for trial in compared() if trial.server == "nginx/kernel"]
    (cpu, _) = unknown_factors(summarise(trials, CONTEXT).factors)
    assert "at no load" not in cpu and ": n/a: no load was measured on both servers" in cpu


LATE = "23.0% of connections started later than scheduled"
PROGRAM = "other programs took 40.0% of the server's cores"
STOLEN = "30.0% of core 1's time stolen by the hypervisor"
SLOW = "the server's cores were 8.0% slower than at full speed"


@pytest.mark.parametrize(
    ("causes", "quoted", "helps"),
    [
        ([[PROGRAM, LATE]] * 7 + [[SLOW, LATE]] * 5, PROGRAM, PROGRAMS),
        ([[PROGRAM, LATE]] * 5 + [[STOLEN, LATE]] * 4 + [[SLOW, LATE]] * 3, STOLEN, HOST),
    ],
)
def test_the_advice_is_of_the_trials_first_causes_and_not_of_what_follows_from_them(
    causes: list[list[str]], quoted: str, helps: str
) -> None:
    """Connections start late because of what takes the cores: it said to lower the load."""
    found = summarise(compared(), CONTEXT)
    loads = [row for row in found.trials if row.part == "load"]
    rows = [
        row.model_copy(update={"disturbed": why}) for row, why in zip(loads, causes, strict=True)
    ]
    told = mostly_disturbed(found.model_copy(update={"trials": rows}))
    assert f"most often so: {quoted} (trial" in told and told.endswith(f"{helps}.")


def test_the_larger_cause_of_a_trial_is_its_first() -> None:
    small, large = load_trial(), load_trial()
    for trial, taken in ((small, 0.3), (large, 5.0)):
        add_other_program(trial, taken)
        trial.samples += counter("cpu.time", 0.1, {"cpu": "1", "kind": "steal", "book": "made"})
    first = [disturbances(Readings(trial, (1,)))[0] for trial in (small, large)]
    assert "stolen" in first[0] and "other programs" in first[1]
