"""Reasons to doubt a run's figures, each once with the number of its trials."""

import re
from collections.abc import Iterable, Sequence

from stackcost.analysis.summary import Summary, TrialRow
from stackcost.report.stored import ONE_CORE
from stackcost.report.words import count

SHOWN = 6  # reasons; `stackcost show --long` and the report have every trial


def doubts(summary: Summary) -> list[str]:
    """The numbers of checks that hold, reasons to doubt figures, and the trials that are not used.

    First what was not served as asked, then all else, each the most frequent first. Two reasons are
    the same if only their numbers differ; the first one is quoted.
    """
    used = [trial for trial in summary.trials if not trial.set_aside]
    checks = [check.holds for trial in used for check in trial.checks]
    lines = [
        f"checks: {checks.count(True)} hold, {checks.count(False)} fail, "
        f"{checks.count(None)} were not possible"
    ]
    failures = _by_kind((trial, reason) for trial in used for reason in trial.failures)
    others = _by_kind((trial, reason) for trial in used for reason in _others(trial))
    reasons = failures + others
    lines += [
        f"  {len(found)} of {count(len(used), 'trial')}: {_quoted(found)}"
        for found in reasons[:SHOWN]
    ]
    if len(reasons) > SHOWN:
        lines.append(f"  {count(len(reasons) - SHOWN, 'more reason')}")
    if shared := summary.machine.get(ONE_CORE):
        lines.append(
            f"load and server share physical cores (CPU {shared}), so each side slows the other "
            "one; cores: auto avoids it"
        )
    aside = [(trial, trial.set_aside) for trial in summary.trials if trial.set_aside]
    if aside:
        why = ", ".join(f"{len(found)} ({found[0][1]})" for found in _by_kind(aside))
        lines.append(f"{count(len(aside), 'more trial')} not used: {why}")
    if summary.state == "interrupted":
        lines.append("this run was interrupted; the figures use the trials before that")
    return lines


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
    groups: dict[str, list[tuple[TrialRow, str]]] = {}
    for trial, reason in reasons:
        groups.setdefault(re.sub(r"\d[\d.,]*", "#", reason), []).append((trial, reason))
    return sorted(groups.values(), key=len, reverse=True)


def _quoted(found: Sequence[tuple[TrialRow, str]]) -> str:
    trial, reason = found[0]
    return f"{reason} (trial {trial.number}, {trial.server})"
