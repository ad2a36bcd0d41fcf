"""What a report begins with: the answer, its reasons, and what may be wrong with it."""

from matplotlib.figure import Figure

from stackcost.report.answers import ceiling_answer, cpu_answer, http_answer, memory_answer
from stackcost.report.counted import counted_answer, counted_systems
from stackcost.report.device import device_answer
from stackcost.report.flags import (
    event_doubts,
    failures,
    flag_lines,
    mostly_disturbed,
    search_doubts,
)
from stackcost.report.plots.costs import cost_by_system
from stackcost.report.results.opened import OpenedRuns
from stackcost.report.story import of_runs, title
from stackcost.report.studies import STUDIES
from stackcost.report.why import why_sentences


def first_screen(runs: OpenedRuns) -> list[str | Figure]:
    """The title, a text under each of up to four headings, and the figure of the answer. On a phone
    the answer is on the first screen, whatever there is to say of the runs.
    """
    reasons = [line for summary in runs.summaries for line in why_sentences(summary)]
    timed = runs.have_profile_loads and not all(map(counted_systems, runs.summaries))
    parts: list[str | Figure] = [title(runs)]
    parts += _under("The answer", "\n\n".join(_answers(runs)))
    parts += [cost_by_system(runs.servers)] if timed else []
    parts += _under("Its reasons", "\n\n".join(reasons))
    parts += _under("Its doubts", "\n".join(f"- {line}" for line in _doubts(runs)))
    return parts + _under("The runs", of_runs(runs))


def _under(heading: str, text: str) -> list[str]:
    return [f"## {heading}\n\n{text}"] if text else []


def _doubts(runs: OpenedRuns) -> list[str]:
    """Doubts of each run, what was not served as asked before others; of several, each begins with
    its run's title.
    """
    found: list[tuple[str, list[str]]] = []
    for summary in runs.summaries:
        lines = [line.strip() for line in flag_lines(summary)]
        lost = failures(summary)
        first = [f"**Not served as asked**: {line}" for line in lost]
        if busy := mostly_disturbed(summary):
            first.insert(0, busy)
        found.append((summary.title, [*first, *(line for line in lines if line not in lost)]))
    found += [(run.summary.title, search_doubts(run.summary)) for run in runs.ceilings]
    found += [(run.summary.title, event_doubts(run.summary)) for run in runs.events]
    several = len(found) > 1
    return [f"{title}: {line}" if several else line for title, lines in found for line in lines]


def _answers(runs: OpenedRuns) -> list[str]:
    found = [study.answer(each) for study in STUDIES for each in runs.summaries if study.of(each)]
    if runs.tested:
        found.append(http_answer(runs))
    if any(counted := [bool(counted_systems(summary)) for summary in runs.summaries]):
        found.append(counted_answer(runs.summaries))
    if runs.have_profile_loads and not all(counted):
        found.append(cpu_answer(runs))
    if any(server.memory for server in runs.servers):
        found.append(memory_answer(runs))
    if runs.events:
        found.append(device_answer(runs))
    elif runs.ceilings:
        found.append(ceiling_answer(runs))
    return found
