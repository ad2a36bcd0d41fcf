"""What the report says in sentences, from the summary's own figures."""

from harness.analysis.summary import ServerResult, Summary
from harness.report.words import count, number


def opening(summary: Summary) -> str:
    """Title, run, and how much of it there is."""
    text = f"# {summary.title}\n\nRun {of_trials(summary)}"
    if summary.state == "interrupted":
        text += (
            "\n\n**This run was interrupted.** What was measured until then is below; rounds that "
            "are missing make every spread less certain."
        )
    return text


def of_trials(summary: Summary) -> str:
    """A run's name, how many trials are in its figures, and how many of them are distrusted."""
    used = [trial for trial in summary.trials if not trial.set_aside]
    flagged = sum(bool(trial.flags) for trial in used)
    doubt = f", {flagged} of them flagged" if flagged else ", none flagged"
    aside = len(summary.trials) - len(used)
    kept = f"; {aside} more in no figure, disturbed or cut short" if aside else ""
    return f"`{summary.run}`: {count(len(used), 'trial')}{doubt}{kept}"


def reading(summary: Summary) -> str:
    """One paragraph per server: what a connection costs there, and of what that is made."""
    return "\n\n".join(_read_server(server) for server in summary.servers)


def _read_server(server: ServerResult) -> str:
    text = f"**{server.name}**"
    known = [level for level in server.levels if level.server_cpu_total.median]
    if known:
        level = known[-1]
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
