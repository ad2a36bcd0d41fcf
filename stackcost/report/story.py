"""What the report says in sentences, from the summary's own figures."""

from collections.abc import Sequence

from stackcost.analysis.summary import ServerResult, Summary
from stackcost.report.opened import OpenedRuns
from stackcost.report.words import count, number


def head(runs: OpenedRuns) -> str:
    """What was run, and how much of it there is; several runs as a list, with their numbers."""
    costs = runs.summaries
    if len(costs) == 1 and not runs.ceilings and not runs.events:
        return opening(costs[0])
    parts = [
        f"- **run {number}**: {of_trials(summary)}, {summary.title}"
        if len(costs) > 1
        else f"- {of_trials(summary)}, {summary.title}"
        for number, summary in enumerate(costs, 1)
    ]
    parts += [
        f"- `{run.summary.run}`: {count(len(run.summary.ceilings), 'search', 'searches')}, "
        f"{run.summary.title}"
        + (". **This run was interrupted.**" if run.summary.state == "interrupted" else "")
        for run in runs.ceilings
    ]
    parts += [f"- `{run.summary.run}`: {run.summary.title}" for run in runs.events]
    every = [*costs, *(run.summary for run in runs.ceilings), *(r.summary for r in runs.events)]
    damaged = [f"`{summary.run}`, {line}" for summary in every for line in summary.damaged]
    return "# Report\n\n" + "\n".join(parts) + _damage(damaged)


def opening(summary: Summary) -> str:
    """Title, run, and how much of it there is."""
    text = f"# {summary.title}\n\nRun {of_trials(summary)}"
    if found := loads_found(summary):
        text += f"\n\n{found}"
    if summary.state == "interrupted":
        text += (
            "\n\n**This run was interrupted.** What was measured until then is below; rounds that "
            "are missing make every spread less certain."
        )
    return text + _damage(summary.damaged)


def _damage(lines: Sequence[str]) -> str:
    if not lines:
        return ""
    told = "\n".join(f"- {line}" for line in lines)
    return f"\n\n**Stored data are damaged**, and in no figure:\n\n{told}"


def of_trials(summary: Summary) -> str:
    """A run's name, how many trials are in its figures, and how many of them are distrusted."""
    used = [trial for trial in summary.trials if not trial.set_aside]
    flagged = sum(bool(trial.flags) for trial in used)
    doubt = f", {flagged} of them flagged" if flagged else ", none flagged"
    aside = len(summary.trials) - len(used)
    kept = f"; {aside} more in no figure, disturbed or cut short" if aside else ""
    return f"`{summary.run}`: {count(len(used), 'trial')}{doubt}{kept}"


def loads_found(summary: Summary) -> str:
    """What the loads are shares of; empty where they were given as rates."""
    if not summary.ceilings:
        return ""
    slowest = min(summary.ceilings, key=lambda name: summary.ceilings[name])
    held = summary.ceilings[slowest]
    others = [name for name in summary.ceilings if name != slowest]
    rates = sorted({level.offered_cps for each in summary.servers for level in each.levels})
    loads = ", ".join(f"{number(rate)} ({rate / held:.0%})" for rate in rates) or "not reached"
    return (
        f"Before the first round {slowest} was found to hold {number(held)} connections/s"
        + (f", {', '.join(others)} at least as many" if others else "")
        + f". The loads are shares of that: {loads}."
    )


def reading(summary: Summary) -> str:
    """One paragraph per server: what a connection costs there, and of what that is made."""
    return "\n\n".join(_read_server(server) for server in summary.servers)


def _read_server(server: ServerResult) -> str:
    text = f"**{server.name}**"
    level = server.quoted
    if level:
        whole = level.server_cpu_total.median or 1.0
        parts = sorted(level.server_cpu.items(), key=lambda part: -(part[1].median or 0))
        shares = ", ".join(f"{kind} {(v.median or 0) / whole:.0%}" for kind, v in parts)
        text += (
            f": at {level.load}{'' if level.test else ' connections/s'} one "
            f"{'request' if level.test else 'connection'} takes "
            f"{number(whole)} us of the server's CPU ({shares})."
        )
    else:
        text += ": no CPU cost was measured."
    memory = server.memory
    if memory is None or memory.total.median is None:
        return f"{text} No memory slope was measured."
    parts_of_flow = ", ".join(
        f"{kind} {number(memory.per_flow[kind].median)}" for kind in memory.counted
    )
    return f"{text} One open flow takes {number(memory.total.median)} bytes ({parts_of_flow})."
