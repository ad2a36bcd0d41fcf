"""What speaks against a run's figures, each reason once with the number of its trials."""

import re
from collections.abc import Iterable, Sequence

from stackcost.analysis.summary import Summary, TrialRow
from stackcost.report.words import count

SHOWN = 6  # reasons; `stackcost show --long` and the report have every trial


def doubts(summary: Summary) -> list[str]:
    """How many checks hold, then the most frequent reasons, then what is in no figure.

    Two trials have the same reason when it differs in numbers alone; the first one is quoted.
    """
    used = [trial for trial in summary.trials if not trial.set_aside]
    checks = [check.holds for trial in used for check in trial.checks]
    lines = [
        f"checks: {checks.count(True)} hold, {checks.count(False)} fail, "
        f"{checks.count(None)} not possible"
    ]
    reasons = _by_kind((trial, reason) for trial in used for reason in _reasons(trial))
    lines += [
        f"  {len(found)} of {count(len(used), 'trial')}: {_quoted(found)}"
        for found in reasons[:SHOWN]
    ]
    if len(reasons) > SHOWN:
        lines.append(f"  {count(len(reasons) - SHOWN, 'more reason')} in fewer trials")
    aside = [(trial, trial.set_aside) for trial in summary.trials if trial.set_aside]
    if aside:
        why = ", ".join(f"{len(found)} ({found[0][1]})" for found in _by_kind(aside))
        lines.append(f"{count(len(aside), 'more trial')} in no figure: {why}")
    if summary.state == "interrupted":
        lines.append("this run was interrupted: the figures are of what was measured until then")
    return lines


def _reasons(trial: TrialRow) -> list[str]:
    """A trial's flags, and its checks that fail."""
    failed = [
        f"{check.name}: wanted {check.wanted}, seen {check.seen}"
        for check in trial.checks
        if check.holds is False
    ]
    return [*failed, *trial.flags]


def _by_kind(reasons: Iterable[tuple[TrialRow, str]]) -> list[list[tuple[TrialRow, str]]]:
    """Groups of reasons that differ in their numbers alone, the most frequent first."""
    groups: dict[str, list[tuple[TrialRow, str]]] = {}
    for trial, reason in reasons:
        groups.setdefault(re.sub(r"\d[\d.,]*", "#", reason), []).append((trial, reason))
    return sorted(groups.values(), key=len, reverse=True)


def _quoted(found: Sequence[tuple[TrialRow, str]]) -> str:
    trial, reason = found[0]
    return f"{reason} (trial {trial.number}, {trial.server})"
