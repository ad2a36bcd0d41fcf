"""A stored run's answer: computed from its files, stored, printed, and rendered."""

from rich.console import Console

from harness.analysis.summary import Summary
from harness.report.ceiling import ceilings_of, has_ceilings
from harness.report.device import events_of, has_events
from harness.report.notebook import render
from harness.report.stored import summary_of
from harness.report.terminal import print_summary
from harness.store import RunFolder


def answer(run: RunFolder, console: Console) -> Summary:
    """Write summary.json and report.html into the run's folder, and print the tables.

    Needs nothing but the folder, so it works again on any stored run, also on one cut short.
    StackcostError when it holds no trial.
    """
    summary = summary_of(run)
    run.write_summary(summary)
    print_summary(summary, console)
    render([run.path], run.path / "report.html")
    return summary


def summarise_again(run: RunFolder) -> None:
    """Write any run's summary.json anew from its trials. StackcostError when it holds none."""
    if has_events(run):
        run.write_summary(events_of(run))
    else:
        run.write_summary(ceilings_of(run) if has_ceilings(run) else summary_of(run))
