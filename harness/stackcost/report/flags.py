"""The flags of a run's trials, each once with the number of its trials."""

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from stackcost.analysis.ceiling.summary import CeilingSummary
from stackcost.analysis.device.event_summary import EventSummary
from stackcost.analysis.head import Head
from stackcost.analysis.summary import Summary, TrialRow
from stackcost.analysis.trial.remedies import remedy
from stackcost.contracts.words import count
from stackcost.report.results.stored import ONE_CORE

REPEATED = re.compile(r"; repeated as trial \d+")
SHOWN = 3  # reasons besides failures; `stackcost show --long` and the report have every trial


class Doubted(NamedTuple):
    """The number and the system of a trial, and why it is doubted."""

    number: int
    server: str
    reason: str


def flag_lines(summary: Summary) -> list[str]:
    """The numbers of checks that hold, the flags, and the trials that are not used.

    First everything that was not served as asked (`failures`) and each check that fails, then the
    most frequent of the rest. Two reasons are the same if only their numbers differ; the first one
    is quoted.
    """
    used = used_trials(summary)
    checks = [check.holds for trial in used for check in trial.checks]
    unknown = checks.count(None)
    lines = [
        f"checks: {checks.count(True)} hold, {checks.count(False)} fail, "
        f"{unknown} {'was' if unknown == 1 else 'were'} not possible"
    ]
    lines += [f"  {line}" for line in failures(summary)]
    lines += [f"  {line}" for line in not_held(summary)]
    failed = _groups(_doubted(trial, reason) for trial in used for reason in failed_checks(trial))
    lines += [f"  {_told(found, len(used))}" for found in failed]
    others = (
        _doubted(trial, reason)
        for trial in used
        for reason in trial.flags
        if reason not in trial.failures
    )
    lines += [f"  {line}" for line in _most_frequent(others, len(used))]
    lines += _one_core(summary)
    if aside := not_used(summary):
        lines.append(aside)
    if summary.state == "interrupted":
        lines.append("this run was interrupted; the figures use the trials before that")
    return lines


def used_trials(summary: Summary, systems: Collection[str] = ()) -> list[TrialRow]:
    """The trials that figures use, of all systems or of these."""
    used = (trial for trial in summary.trials if not trial.set_aside)
    return [trial for trial in used if not systems or trial.server in systems]


def not_used(summary: Summary) -> str:
    """How many trials are in no figure, and why; empty if all are used."""
    aside = [
        _doubted(trial, REPEATED.sub(" and repeated", trial.set_aside))
        for trial in summary.trials
        if trial.set_aside
    ]
    why = ", ".join(f"{len(found)} ({found[0].reason})" for found in _by_kind(aside))
    return f"{count(len(aside), 'more trial')} not used: {why}" if aside else ""


def mostly_disturbed(summary: Summary, systems: Collection[str] = (), short: bool = False) -> str:
    """What the answer begins with where most trials were disturbed; else empty.

    `systems`: of these alone. `short`: without the cause and what helps.
    """
    used = used_trials(summary, systems)
    loads = [trial for trial in used if trial.part == "load"]
    used = loads or used  # other programs do not disturb memory that is held
    disturbed = [trial for trial in used if trial.disturbed]
    told = _not_quiet(len(disturbed), len(used))
    if short or not told:
        return told
    most = _commonest([_doubted(trial, trial.disturbed[0]) for trial in disturbed])
    return (
        f"{told.rstrip('.')}, most often so: {_quoted([most])}. Costs are those of such a machine, "
        f"and a load that was not held may be held by a quiet one. {remedy(most.reason)}."
    )


def _not_quiet(disturbed: int, used: int) -> str:
    """Empty unless it is most of the trials."""
    if 2 * disturbed <= used:
        return ""
    were = "was" if disturbed == 1 else "were"
    return f"The machine was not quiet: {disturbed} of {count(used, 'trial')} {were} disturbed."


def failures(summary: Summary, systems: Collection[str] = ()) -> list[str]:
    """What was not served as asked, in how many trials of all, each quoted from the worst of them.

    The trial that lost most is first, whatever the number of its kind; none is left out. `systems`:
    of these alone.
    """
    used = used_trials(summary, systems)
    worst_first = sorted(used, key=lambda each: -each.failed / max(1, each.failed + each.completed))
    found = _groups(_doubted(trial, reason) for trial in worst_first for reason in trial.failures)
    return [_told(each, len(used)) for each in found]


def not_held(summary: Summary) -> list[str]:
    """What "not all passed" and "past the ceiling" are in a table of loads: each with its sign."""
    kinds: dict[str, list[str]] = {}
    for server, level in summary.loads:
        if level.not_held:
            told = f"{server.name} at {level.load} ({level.past_ceiling})"
            kinds.setdefault(level.not_held, []).append(told)
    return [f"{kind}, so in no main figure: {', '.join(told)}" for kind, told in kinds.items()]


def searches_disturbed(summary: CeilingSummary) -> str:
    """What the answer begins with where most trials of its searches were disturbed; else empty."""
    used = [row for each in summary.ceilings for row in each.trace if row.decisive]
    return _not_quiet(sum(bool(row.disturbed) for row in used), len(used))


def search_doubts(summary: CeilingSummary) -> list[str]:
    """Why a run's searches may be doubted: what disturbed the trials that they went on with."""
    rows = [(each.server, row) for each in summary.ceilings for row in each.trace]
    used = [(server, row) for server, row in rows if row.decisive]
    found = [[Doubted(row.number, server, why) for why in row.disturbed] for server, row in used]
    aside = len(rows) - len(used)
    repeated = [f"{count(aside, 'more trial')} disturbed and repeated"] if aside else []
    return _with_remedy(found) + repeated + _one_core(summary)


def event_doubts(summary: EventSummary) -> list[str]:
    """Why a run's events may be doubted: what the machine did in their trials."""
    found = [
        [Doubted(each.number, each.server, why) for why in each.flags] for each in summary.trials
    ]
    return _with_remedy(found) + _one_core(summary)


def failures_list(summaries: Iterable[Summary]) -> str:
    """What was not served, of some runs, as a list with a heading; empty if all was served."""
    lines = [f"- {line}" for summary in summaries for line in failures(summary)]
    return "**Not served as asked:**\n\n" + "\n".join(lines) if lines else ""


def _one_core(summary: Head) -> list[str]:
    """That load and server share physical cores, if they do."""
    if not (shared := summary.machine.get(ONE_CORE)):
        return []
    return [
        f"load and server share physical cores (CPU {shared}), so each side slows the other one; "
        "cores: auto avoids it"
    ]


def _told(found: Sequence[Doubted], trials: int) -> str:
    return f"{len(found)} of {count(trials, 'trial')}: {_quoted(found)}"


def failed_checks(trial: TrialRow) -> list[str]:
    """Each with what was expected and what was found."""
    return [
        f"{check.name}: expected {check.wanted}, found {check.seen}"
        for check in trial.checks
        if check.holds is False
    ]


def _most_frequent(reasons: Iterable[Doubted], trials: int) -> list[str]:
    """The most frequent reasons, in how many of all trials, and how many more there are."""
    kinds = _by_kind(reasons)
    more = [count(len(kinds) - SHOWN, "more reason")] if len(kinds) > SHOWN else []
    return [_told(found, trials) for found in kinds[:SHOWN]] + more


def _with_remedy(trials: Sequence[Sequence[Doubted]]) -> list[str]:
    """What disturbed each trial, and what helps against the commonest cause."""
    causes = [found[0] for found in trials if found]
    helps = [f"{remedy(_commonest(causes).reason)}."] if causes else []
    return _most_frequent(chain.from_iterable(trials), len(trials)) + helps


def _commonest(causes: Sequence[Doubted]) -> Doubted:
    """The first of the trials whose cause has the remedy that most of them have. The cause of a
    trial is its first disturbance: the others follow from it.
    """
    by_remedy: dict[str, list[Doubted]] = {}
    for each in causes:
        by_remedy.setdefault(remedy(each.reason), []).append(each)
    return max(by_remedy.values(), key=len)[0]


def _by_kind(reasons: Iterable[Doubted]) -> list[list[Doubted]]:
    """Groups of reasons that differ only in numbers, the most frequent first."""
    return sorted(_groups(reasons), key=len, reverse=True)


def _groups(reasons: Iterable[Doubted]) -> list[list[Doubted]]:
    groups: dict[str, list[Doubted]] = {}
    for each in reasons:
        kind = re.sub(r"\d[\d.,]*( [a-z]+?s?\b)?", _without_number, each.reason)
        groups.setdefault(kind, []).append(each)
    return list(groups.values())


def _without_number(found: re.Match[str]) -> str:
    """ "1 segment" and "2 segments" are the same kind of reason."""
    return f"#{(found[1] or '').removesuffix('s')}"


def _doubted(trial: TrialRow, reason: str) -> Doubted:
    return Doubted(trial.number, trial.server, reason)


def _quoted(found: Sequence[Doubted]) -> str:
    first = found[0]
    return f"{first.reason} (trial {first.number}, {first.server})"
