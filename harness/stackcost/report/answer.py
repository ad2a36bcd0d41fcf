"""The answer of a stored run: printed, and rendered as a page."""

from rich.console import Console

from stackcost.analysis.ceiling.summary import CeilingSummary
from stackcost.analysis.summary import Summary
from stackcost.report.ceiling import print_ceilings
from stackcost.report.extra import can_render
from stackcost.report.results.computed import summarise_again
from stackcost.report.results.congestion import congestion_sentence
from stackcost.report.results.opened import AnySummary
from stackcost.report.terminal import print_long, print_screen
from stackcost.store import RunFolder


def answer(run: RunFolder, console: Console) -> AnySummary:
    """Write summary.json and report.html into the run's folder, and print the results.

    It needs only the folder, so it works on any stored run, even on one that was cut short.
    StackcostError if it has no trial. Without the extra `notebooks` there is no report.html.
    """
    summary = summarise_again(run)
    print_answer(summary, console)
    if can_render(console):
        from stackcost.report.notebook import render

        render([run.path], run.path / "report.html")
    return summary


def print_answer(summary: AnySummary, console: Console, long: bool = False) -> None:
    """Print tables or sentences on one screen, depending on the run; `long`: every table."""
    if isinstance(summary, Summary):
        print_screen(summary, console)
        if long:
            print_long(summary, console)
    elif isinstance(summary, CeilingSummary):
        print_ceilings(summary, console, long)
    else:
        from stackcost.report.device import print_events

        print_events(summary, console, long)
    if sentence := congestion_sentence(summary):
        console.print(sentence, highlight=False, markup=False, soft_wrap=True)
    for line in summary.damaged:
        console.print(f"damaged: {line}", highlight=False, markup=False)
