"""A stored run's answer: computed from its files, stored, printed, and rendered."""

from collections.abc import Callable

from rich.console import Console

from harness.analysis.summary import Summary
from harness.device.summary import EventSummary
from harness.report.ceiling import ceilings_of, print_ceilings
from harness.report.device import events_of, print_events
from harness.report.notebook import render
from harness.report.stored import MeasuredKind, kind_of, summary_of
from harness.report.terminal import print_summary
from harness.search.summary import CeilingSummary
from harness.store import RunFolder

AnySummary = Summary | CeilingSummary | EventSummary
SUMMARY_OF: dict[MeasuredKind, Callable[[RunFolder], AnySummary]] = {
    "costs": summary_of,
    "ceilings": ceilings_of,
    "events": events_of,
}


def answer(run: RunFolder, console: Console) -> AnySummary:
    """Write summary.json and report.html into the run's folder, and print the answer.

    Needs nothing but the folder, so it works again on any stored run, also on one cut short.
    StackcostError when it holds no trial.
    """
    summary = summarise_again(run)
    print_answer(summary, console)
    render([run.path], run.path / "report.html")
    return summary


def summarise_again(run: RunFolder) -> AnySummary:
    """Write any run's summary.json anew. StackcostError when it holds no trial."""
    summary = computed(run)
    run.write_summary(summary)
    return summary


def computed(run: RunFolder) -> AnySummary:
    """Any run's summary, from its trials. StackcostError when it holds none."""
    return SUMMARY_OF[kind_of(run.manifest())](run)


def print_answer(summary: AnySummary, console: Console) -> None:
    """Tables or sentences, as fits what was measured."""
    if isinstance(summary, CeilingSummary):
        print_ceilings(summary, console)
    elif isinstance(summary, EventSummary):
        print_events(summary, console)
    else:
        print_summary(summary, console)
