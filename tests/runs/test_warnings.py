"""What a run tells: how far it is, and of a busy machine while there is time."""

import io
import subprocess
import sys
from collections.abc import Iterator

import pytest
from rich.console import Console

from stackcost.analysis.trial.remedies import AWAKE, HOST, PROGRAMS
from stackcost.host.taken_cores import Program, TakenCores, look
from stackcost.runs.shown import shown
from stackcost.runs.warnings import DisturbedInARow, words_before
from tests.analysis.trials import load_trial

SPIN = ["nice", "-n", "-15", sys.executable, "-S", "-c", "while True: pass"]


@pytest.fixture
def spinning() -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen(SPIN) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_program_that_takes_a_core_is_seen(spinning: "subprocess.Popen[bytes]") -> None:
    taken = look(1.0)
    own = [each for each in taken.programs if each.process == spinning.pid]
    assert own and own[0].cores > 0.05 and own[0].command.startswith("python")
    assert 0 < taken.share <= 1 and 1.0 <= taken.seconds < 10.0


def test_what_takes_the_cores_what_that_leaves_and_what_to_do_are_told() -> None:
    taken = TakenCores(2.0, {0: 0.97, 1: 0.98}, [Program("cc1plus", 123, 0.92)])
    told = words_before(taken)
    assert "97% of core 0, 98% of core 1 in the 2 s before the run" in told
    assert "cc1plus (pid 123) 92% of a core" in told
    assert "only large differences can be told" in told and PROGRAMS in told
    small = [Program("python3", 7, 0.33), Program("kdamond.0", 77, 0.004)]
    most_unnamed = words_before(TakenCores(2.0, {0: 1.0, 1: 0.98}, small))
    assert "python3 (pid 7) 33% of a core, interrupts, and programs that" in most_unnamed
    assert "ended meanwhile 165%" in most_unnamed and "kdamond" not in most_unnamed
    both = [Program("cc1plus", 123, 0.92), Program("cc1plus", 124, 0.9)]
    assert "meanwhile" not in words_before(TakenCores(2.0, {0: 0.97, 1: 0.98}, both))
    stolen = words_before(TakenCores(2.0, {0: 0.97, 1: 0.98}, [], stolen=0.7))
    assert stolen.startswith("The hypervisor took 97% of core 0") and HOST in stolen
    assert words_before(TakenCores(2.0, {0: 0.01, 1: 0.02}, [])) == ""


def test_three_disturbed_trials_in_a_row_are_one_sentence() -> None:
    row, sound, disturbed = DisturbedInARow(), load_trial(), load_trial()
    disturbed.suspended_s = 5.0
    told = [row.words(trial, (1,)) for trial in [disturbed] * 2 + [sound] + [disturbed] * 5]
    assert [bool(words) for words in told] == [False] * 5 + [True] + [False] * 2
    assert "3 trials in a row were disturbed, the last one: the machine was suspended" in told[5]
    assert told[5].endswith(f". {AWAKE}.")


def test_without_a_terminal_each_step_is_one_plain_line_with_the_time_left() -> None:
    written = io.StringIO()
    what = "[2,000] connections/s, a line of some length"
    with shown(Console(file=written, width=40)) as progress:
        progress.say("looking at the cores")
        progress.expect([90])
        with progress.turn("round 1 of 2, nginx/kernel", "nginx/kernel", 60):
            progress.say(what)
            with progress.trial("next", 10):
                pass
    before, first, second = written.getvalue().splitlines()
    assert before.endswith("s] looking at the cores"), "no time is left of what is not planned"
    assert first.endswith(f"about 1:30 left] round 1 of 2, nginx/kernel: {what}")
    assert "about 0:30 left] round 1 of 2, nginx/kernel: next" in second
    assert "\x1b" not in written.getvalue()


def test_on_a_terminal_one_line_is_redrawn() -> None:
    written = io.StringIO()
    console = Console(file=written, force_terminal=True, width=100)
    with shown(console) as progress:
        progress.expect([3661])
        with progress.turn("round 1", "nginx/kernel", 1.0):
            progress.say("server")
    assert "round 1: server" in written.getvalue()
    assert "about 1:01:01 left" in written.getvalue()
