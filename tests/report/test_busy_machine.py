"""An answer whose trials were mostly disturbed begins with that, and blames no server."""

import io

from rich.console import Console

from stackcost.analysis.factors import headline
from stackcost.analysis.readings import Readings
from stackcost.analysis.summarise import summarise
from stackcost.analysis.summary import Summary
from stackcost.contracts.trial import Trial
from stackcost.report.story import opening
from stackcost.report.tables.short import unknown_factors
from stackcost.report.terminal import print_screen
from tests.analysis.runs import CONTEXT, SYSTEMS, compared

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
    assert opening(busy).startswith(f"# {busy.title}\n\n**{WORDS}")
    assert "machine was not quiet" not in screen(sound) + opening(sound)


def test_no_load_is_said_to_be_above_a_ceiling_by_disturbed_trials() -> None:
    """12 of 12 trials said that others took 98 % of the cores, and the answer that nginx was slow.

    A newcomer then lowers the load, in vain.
    """
    for share, told in ((0.8, "trials were disturbed (the machine was suspended"), (0.0, "every")):
        seen = [Readings(trial) for trial in disturbed(share)]
        past = {
            each.trial.number: "59 segments retransmitted"
            for each in seen
            if not each.trial.traffic.holds
        }
        found = headline(seen, SYSTEMS, (1,), {}, past)
        assert found.rate is None and told in found.words


def test_an_unknown_factor_is_at_nothing() -> None:
    trials = [trial for trial in compared() if trial.server == "nginx/kernel"]
    (cpu, _) = unknown_factors(summarise(trials, CONTEXT).factors)
    assert "at no load" not in cpu and ": n/a: no load was measured on both servers" in cpu
