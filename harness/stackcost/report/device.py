"""The results of a device under test in sentences."""

from rich.console import Console

from stackcost.analysis.device.event_summary import EventSummary
from stackcost.report.ceiling import sentences_of
from stackcost.report.figure_tables import system_figure_table
from stackcost.report.flags import event_doubts
from stackcost.report.results.opened import OpenedRuns
from stackcost.report.terminal_table import draw

TABLE_CACHE = "nf_conntrack"  # slab cache of the entries of connection tracking


def sentences(summary: EventSummary) -> list[str]:
    """The sentences about the events."""
    happened = [mix.sentence for mix in summary.mixes] + [e.sentence for e in summary.events]
    return happened + summary.left_out


def print_events(summary: EventSummary, console: Console, long: bool = False) -> None:
    """Print the sentences on the terminal; `long`: every figure first."""
    if long:
        console.print(draw(system_figure_table(summary)))
    for line in sentences(summary):
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    for line in event_doubts(summary):
        console.print(f"  {line}", style="yellow", highlight=False, markup=False, soft_wrap=True)


def device_answer(runs: OpenedRuns) -> str:
    """The summary of the page: ceilings, bottlenecks, and the effects of the events."""
    names = dict.fromkeys(
        [c.server for run in runs.ceilings for c in run.summary.ceilings]
        + [each.server for run in runs.events for each in run.summary.trials]
    )
    ceilings = [c for run in runs.ceilings for c in run.summary.ceilings]
    lines = [f"- {line}" for ceiling in ceilings for line in sentences_of(ceiling)]
    lines += [f"- {line}" for run in runs.events for line in sentences(run.summary)]
    head = [f"**{', '.join(names)} in the middle.**", ""] if names else []
    return "\n".join(head + lines)
