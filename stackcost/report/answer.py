"""A stored run's answer: computed from its files, stored, printed, and rendered."""

from rich.console import Console

from stackcost.analysis.ceiling.summary import CeilingSummary
from stackcost.analysis.summary import Summary
from stackcost.report.ceiling import ceilings_of, print_ceilings
from stackcost.report.extra import can_render
from stackcost.report.fresh import AnySummary, basis_of, stored_answer
from stackcost.report.progress import say
from stackcost.report.stored import kind_of, summary_of
from stackcost.report.terminal import print_long, print_screen
from stackcost.report.words import count
from stackcost.store import RunFolder


def answer(run: RunFolder, console: Console) -> AnySummary:
    """Write summary.json and report.html into the run's folder, and print the answer.

    Needs nothing but the folder, so it works again on any stored run, also on one cut short.
    StackcostError when it holds no trial. Without the extra `notebooks` there is no report.html.
    """
    summary = summarise_again(run)
    print_answer(summary, console)
    if can_render(console):
        from stackcost.report.notebook import render

        render([run.path], run.path / "report.html")
    return summary


def summarise_again(run: RunFolder) -> AnySummary:
    """Write any run's summary.json anew. StackcostError when it holds no trial."""
    say(f"computing the results of {run.path} from {count(run.count(), 'trial')}")
    summary = computed(run)
    run.write_summary(summary)
    return summary


def computed(run: RunFolder) -> AnySummary:
    """Any run's summary, from its trials. StackcostError when it holds none."""
    basis = basis_of(run)  # first: a trial that comes meanwhile may not be in it
    return _computed(run).model_copy(update={"basis": basis})


def _computed(run: RunFolder) -> AnySummary:
    kind = kind_of(run.manifest())
    if kind == "events":
        from stackcost.report.device import events_of

        return events_of(run)
    return ceilings_of(run) if kind == "ceilings" else summary_of(run)


def current(run: RunFolder) -> AnySummary:
    """Any run's summary: as it is stored when that is fresh, else from its trials."""
    if found := stored_answer(run):
        return found
    say(
        f"computing the results of {run.path}, because no current ones are stored; "
        f"to store them: stackcost report {run.path}"
    )
    return computed(run)


def print_answer(summary: AnySummary, console: Console, long: bool = False) -> None:
    """Tables or sentences on one screen, as fits what was measured; `long`: every table too."""
    if isinstance(summary, Summary):
        print_screen(summary, console)
        if long:
            print_long(summary, console)
    elif isinstance(summary, CeilingSummary):
        print_ceilings(summary, console, long)
    else:
        from stackcost.report.device import print_events

        print_events(summary, console)
    for line in summary.damaged:
        console.print(f"damaged: {line}", highlight=False, markup=False)
