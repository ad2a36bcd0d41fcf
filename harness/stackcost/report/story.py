"""The sentences of the report, from the figures of the summary."""

from stackcost.analysis.ceiling.summary import CeilingSummary
from stackcost.analysis.summary import ServerResult, Summary
from stackcost.contracts.words import count
from stackcost.report.flags import mostly_disturbed, not_used, searches_disturbed, used_trials
from stackcost.report.results.congestion import congestion_sentence
from stackcost.report.results.opened import AnySummary, OpenedRuns
from stackcost.report.words import number


def title(runs: OpenedRuns) -> str:
    """The title, and what to know before the answer: a machine that was busy, a run cut short."""
    every = _every(runs)
    named = len(every) > 1
    told = ["# Report" if named else f"# {every[0].title}"]
    for each in every:
        busy = ""
        if isinstance(each, Summary):
            busy = mostly_disturbed(each, short=True)
        elif isinstance(each, CeilingSummary):
            busy = searches_disturbed(each)
        cut = "This run was interrupted." if each.state == "interrupted" else ""
        if words := " ".join(filter(None, (busy, cut))):
            told.append(f"**{each.title}: {words}**" if named else f"**{words}**")
    return "\n\n".join(told)


def of_runs(runs: OpenedRuns) -> str:
    """The runs and the numbers of their trials, their loads, and what differs in them."""
    costs, every = runs.summaries, _every(runs)
    parts = [
        (f"- **run {number}**: " if len(costs) > 1 else "- ") + of_trials(summary)
        for number, summary in enumerate(costs, 1)
    ]
    parts += [
        f"- `{run.summary.run}`: {count(len(run.summary.ceilings), 'search', 'searches')}"
        for run in runs.ceilings
    ]
    parts += [f"- `{run.summary.run}`: {run.summary.title}" for run in runs.events]
    damaged = [f"`{summary.run}`, {line}" for summary in every for line in summary.damaged]
    loads = [found for summary in costs if (found := loads_found(summary))]
    algorithms = dict.fromkeys(words for each in every if (words := congestion_sentence(each)))
    told = ["\n".join(parts), *loads, *algorithms]
    if damaged:
        told.append("**Some stored data are damaged**; no figure uses them:")
        told.append("\n".join(f"- {line}" for line in damaged))
    return "\n\n".join(told)


def _every(runs: OpenedRuns) -> list[AnySummary]:
    found: list[AnySummary] = [*runs.summaries]
    found += [run.summary for run in runs.ceilings]
    return found + [run.summary for run in runs.events]


def of_trials(summary: Summary) -> str:
    """A run's name, the number of trials in its figures, and the number of flagged ones."""
    used = used_trials(summary)
    flagged = sum(bool(trial.flags) for trial in used)
    note = f", {flagged} of them flagged" if flagged else ", none flagged"
    aside = not_used(summary)
    kept = f"; {aside}" if aside else ""
    return f"`{summary.run}`: {count(len(used), 'trial')}{note}{kept}"


def loads_found(summary: Summary) -> str:
    """The ceiling that the loads are shares of; empty if the loads were given as rates."""
    if not summary.ceilings:
        return ""
    slowest = min(summary.ceilings, key=lambda name: summary.ceilings[name])
    held = summary.ceilings[slowest]
    others = [name for name in summary.ceilings if name != slowest]
    rates = sorted({level.offered_cps for each in summary.servers for level in each.levels})
    lost = ", ".join(number(load) for load in summary.loads_not_held.get(slowest, []))
    loads = ", ".join(f"{number(rate)} ({rate / held:.0%})" for rate in rates) or "not reached"
    return (
        f"Ceiling of {slowest}, found before the first round: {number(held)} connections/s"
        + (f"; that of {', '.join(others)} is not lower" if others else "")
        + (f". A trial of the highest load did not hold {lost}, so it was lowered" if lost else "")
        + f". The loads are shares of it: {loads}."
    )


def reading(summary: Summary) -> str:
    """One paragraph per server: the cost of a connection, and its parts."""
    return "\n\n".join(_read_server(server) for server in summary.servers)


def _read_server(server: ServerResult) -> str:
    text = f"**{server.name}**"
    level = server.quoted
    if level:
        whole = level.cost.median or 1.0
        parts = sorted(level.costs.items(), key=lambda part: -(part[1].median or 0))
        shares = ", ".join(f"{kind} {(v.median or 0) / whole:.0%}" for kind, v in parts)
        text += (
            f": at {level.load}{'' if level.test else ' connections/s'} one "
            f"{'request' if level.test else 'connection'} takes "
            f"{number(whole)} us of the server's CPU ({shares})."
        )
    else:
        text += ": no CPU cost was measured."
    memory = server.memory
    total = memory["memory.total"].median if memory else None
    if memory is None or total is None:
        why = f": {memory['memory.total'].reason}" if memory else ""
        return f"{text} No memory slope was measured{why}."
    slopes = memory.kinds("memory.per_flow")
    parts_of_flow = ", ".join(f"{kind} {number(slopes[kind].median)}" for kind in memory.counted)
    return f"{text} One open flow takes {number(total)} bytes ({parts_of_flow})."
