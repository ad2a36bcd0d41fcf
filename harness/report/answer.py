"""A stored run's answer: computed from its files, stored, printed, and rendered."""

from rich.console import Console

from harness.analysis.summary import Summary
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
    render(run.path)
    return summary
