"""The flags of a run's trials, each once with the number of its trials."""

import re
from collections.abc import Collection, Iterable, Sequence

from stackcost.analysis.summary import Summary, TrialRow
from stackcost.report.stored import ONE_CORE
from stackcost.report.words import count

REPEATED = re.compile(r"; repeated as trial \d+")
SHOWN = 3  # reasons besides failures; `stackcost show --long` and the report have every trial


def flag_lines(summary: Summary) -> list[str]:
    """The numbers of checks that hold, the flags, and the trials that are not used.

    First everything that was not served as asked (`failures`), then the most frequent of the rest.
    Two reasons are the same if only their numbers differ; the first one is quoted.
    """
    used = [trial for trial in summary.trials if not trial.set_aside]
    checks = [check.holds for trial in used for check in trial.checks]
    unknown = checks.count(None)
    lines = [
        f"checks: {checks.count(True)} hold, {checks.count(False)} fail, "
        f"{unknown} {'was' if unknown == 1 else 'were'} not possible"
    ]
    lines += [f"  {line}" for line in failures(summary)]
    others = _by_kind((trial, reason) for trial in used for reason in _others(trial))
    lines += [f"  {_told(found, len(used))}" for found in others[:SHOWN]]
    if len(others) > SHOWN:
        lines.append(f"  {count(len(others) - SHOWN, 'more reason')}")
    if shared := summary.machine.get(ONE_CORE):
        lines.append(
            f"load and server share physical cores (CPU {shared}), so each side slows the other "
            "one; cores: auto avoids it"
        )
    if aside := not_used(summary):
        lines.append(aside)
    if summary.state == "interrupted":
        lines.append("this run was interrupted; the figures use the trials before that")
    return lines


def not_used(summary: Summary) -> str:
    """How many trials are in no figure, and why; empty if all are used."""
    aside = [
        (trial, REPEATED.sub(" and repeated", trial.set_aside))
        for trial in summary.trials
        if trial.set_aside
    ]
    why = ", ".join(f"{len(found)} ({found[0][1]})" for found in _by_kind(aside))
    return f"{count(len(aside), 'more trial')} not used: {why}" if aside else ""


def mostly_disturbed(summary: Summary, systems: Collection[str] = ()) -> str:
    """What the answer begins with where most trials were disturbed; else empty.

    `systems`: of these alone.
    """
    used = [
        trial
        for trial in summary.trials
        if not trial.set_aside and (not systems or trial.server in systems)
    ]
    loads = [trial for trial in used if trial.part == "load"]
    used = loads or used  # other programs do not disturb memory that is held
    disturbed = [trial for trial in used if trial.disturbed]
    if 2 * len(disturbed) <= len(used):
        return ""
    most = _by_kind((trial, reason) for trial in disturbed for reason in trial.disturbed)[0]
    return (
        f"The machine was busy: {len(disturbed)} of {count(len(used), 'trial')} were disturbed, "
        f"most of them so: {_quoted(most)}. Costs are those of a busy machine, and a load that was "
        "not held may be held by an idle one. End other programs, or measure at another time."
    )


def failures(summary: Summary, systems: Collection[str] = ()) -> list[str]:
    """What was not served as asked, in how many trials of all, each quoted from the worst of them.

    The trial that lost most is first, whatever the number of its kind; none is left out. `systems`:
    of these alone.
    """
    used = [
        trial
        for trial in summary.trials
        if not trial.set_aside and (not systems or trial.server in systems)
    ]
    worst_first = sorted(used, key=lambda trial: -_lost_share(trial))
    found = _groups((trial, reason) for trial in worst_first for reason in trial.failures)
    return [_told(each, len(used)) for each in found]


def failures_list(summaries: Iterable[Summary]) -> str:
    """The same of some runs as a list with a heading; empty if everything was served."""
    lines = [f"- {line}" for summary in summaries for line in failures(summary)]
    return "**Not served as asked:**\n\n" + "\n".join(lines) if lines else ""


def _lost_share(trial: TrialRow) -> float:
    return trial.failed / max(1, trial.failed + trial.completed)


def _told(found: Sequence[tuple[TrialRow, str]], trials: int) -> str:
    return f"{len(found)} of {count(trials, 'trial')}: {_quoted(found)}"


def _others(trial: TrialRow) -> list[str]:
    """The failed checks of a trial, and its flags that are no failures."""
    failed = [
        f"{check.name}: expected {check.wanted}, found {check.seen}"
        for check in trial.checks
        if check.holds is False
    ]
    return [*failed, *(flag for flag in trial.flags if flag not in trial.failures)]


def _by_kind(reasons: Iterable[tuple[TrialRow, str]]) -> list[list[tuple[TrialRow, str]]]:
    """Groups of reasons that differ only in numbers, the most frequent first."""
    return sorted(_groups(reasons), key=len, reverse=True)


def _groups(reasons: Iterable[tuple[TrialRow, str]]) -> list[list[tuple[TrialRow, str]]]:
    groups: dict[str, list[tuple[TrialRow, str]]] = {}
    for trial, reason in reasons:
        groups.setdefault(re.sub(r"\d[\d.,]*", "#", reason), []).append((trial, reason))
    return list(groups.values())


def _quoted(found: Sequence[tuple[TrialRow, str]]) -> str:
    trial, reason = found[0]
    return f"{reason} (trial {trial.number}, {trial.server})"
