"""The sentences of the report, from the figures of the summary."""

from collections.abc import Sequence

from stackcost.analysis.head import Head
from stackcost.analysis.summary import ServerResult, Summary
from stackcost.report.congestion import congestion_sentence
from stackcost.report.flags import failures_list, mostly_disturbed, not_used
from stackcost.report.opened import OpenedRuns
from stackcost.report.words import count, number


def head(runs: OpenedRuns) -> str:
    """The heading: the runs and the numbers of their trials; several runs as a numbered list."""
    costs = runs.summaries
    if len(costs) == 1 and not runs.ceilings and not runs.events:
        return opening(costs[0])
    parts = [
        (f"- **run {number}**: " if len(costs) > 1 else "- ")
        + f"{of_trials(summary)}, {summary.title}{_cut_short(summary)}"
        for number, summary in enumerate(costs, 1)
    ]
    parts += [
        f"- `{run.summary.run}`: {count(len(run.summary.ceilings), 'search', 'searches')}, "
        f"{run.summary.title}{_cut_short(run.summary)}"
        for run in runs.ceilings
    ]
    parts += [
        f"- `{run.summary.run}`: {run.summary.title}{_cut_short(run.summary)}"
        for run in runs.events
    ]
    every = [*costs, *(run.summary for run in runs.ceilings), *(r.summary for r in runs.events)]
    damaged = [f"`{summary.run}`, {line}" for summary in every for line in summary.damaged]
    busy = [f"**`{each.run}`: {words}**" for each in costs if (words := mostly_disturbed(each))]
    lost = failures_list(costs)
    algorithms = dict.fromkeys(words for each in every if (words := congestion_sentence(each)))
    told = ["# Report", *busy, "\n".join(parts), *([lost] if lost else []), *algorithms]
    return "\n\n".join(told) + _damage(damaged)


def _cut_short(summary: Head) -> str:
    """That a run was interrupted, behind its title."""
    return ". **This run was interrupted.**" if summary.state == "interrupted" else ""


def opening(summary: Summary) -> str:
    """Title, run, and number of trials."""
    text = f"# {summary.title}\n\n"
    if busy := mostly_disturbed(summary):
        text += f"**{busy}**\n\n"
    text += f"Run {of_trials(summary)}"
    if lost := failures_list([summary]):
        text += f"\n\n{lost}"
    if found := loads_found(summary):
        text += f"\n\n{found}"
    if algorithms := congestion_sentence(summary):
        text += f"\n\n{algorithms}"
    if summary.state == "interrupted":
        text += (
            "\n\n**This run was interrupted.** The figures use the trials before that. Missing "
            "rounds make every interval less certain."
        )
    return text + _damage(summary.damaged)


def _damage(lines: Sequence[str]) -> str:
    if not lines:
        return ""
    told = "\n".join(f"- {line}" for line in lines)
    return f"\n\n**Some stored data are damaged**; no figure uses them:\n\n{told}"


def of_trials(summary: Summary) -> str:
    """A run's name, the number of trials in its figures, and the number of flagged ones."""
    used = [trial for trial in summary.trials if not trial.set_aside]
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
        whole = level["server_cpu_total"].median or 1.0
        parts = sorted(level.kinds("server_cpu").items(), key=lambda part: -(part[1].median or 0))
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
