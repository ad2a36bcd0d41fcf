"""What a run's figures rest on: its trials, checks, machine, settings and definitions."""

from collections.abc import Mapping, Sequence
from typing import Any

from stackcost.analysis.summary import Summary
from stackcost.report.tables.text_table import TextTable
from stackcost.report.words import UNKNOWN, number


def trial_table(summary: Summary) -> TextTable:
    """Every trial that was run, with its reasons for distrust."""
    return TextTable(
        "Every trial",
        ("no.", "round", "server", "what", "completed", "failed", "sent again", "us/conn", "flags"),
        [
            (
                str(trial.number),
                str(trial.round),
                trial.server,
                trial.test or f"{number(trial.offered_cps)}/s"
                if trial.part == "load"
                else f"{number(trial.open_flows)} open",
                number(trial.completed),
                number(trial.failed),
                number(trial.retransmitted),
                "" if trial.part == "memory" else number(trial.server_cpu_total),
                "; ".join(trial.flags),
            )
            for trial in summary.trials
        ],
    )


def check_table(summary: Summary) -> TextTable:
    """Every comparison that was made: in how many trials it held, and the worst that was seen."""
    rows: list[tuple[str, ...]] = []
    names = dict.fromkeys(check.name for trial in summary.trials for check in trial.checks)
    for server in summary.servers:
        for name in names:
            own = [
                check
                for trial in summary.trials
                if trial.server == server.name
                for check in trial.checks
                if check.name == name
            ]
            known = [check for check in own if check.holds is not None]
            worst = min(
                own, key=lambda check: (check.holds is None, bool(check.holds)), default=None
            )
            if worst:
                held = sum(bool(check.holds) for check in known)
                told = f"{held} of {len(known)}" if known else f"{UNKNOWN}: {worst.reason}"
                rows.append((server.name, name, told, worst.wanted, worst.seen))
    return TextTable(
        "Checks on the run's own data",
        ("server", "check", "holds in", "wanted", "seen (first, or first that failed)"),
        rows,
    )


def tuning_table(summary: Summary) -> TextTable:
    """What every tier wanted to change, what was there before, and what became of it."""
    return TextTable(
        "Tuning: what each tier changed",
        ("server", "setting", "of the", "before", "after", "source", "why not as wanted"),
        [
            (
                server,
                change.setting,
                change.where,
                change.before or "",
                change.after or UNKNOWN,
                change.source,
                f"wanted {change.wanted}: {change.reason}" if change.reason else "",
            )
            for server, changes in summary.tuning.items()
            for change in changes
        ],
    )


def machine_table(machine: Mapping[str, Any]) -> TextTable:
    """The machine and its settings, without which no figure means anything."""
    return TextTable("Machine", ("what", "value"), [(k, str(v)) for k, v in machine.items()])


def definition_table(summaries: Sequence[Summary]) -> TextTable:
    """What every figure is and where it was read; one that all runs share stands there once."""
    rows = [
        (name, each.unit, each.definition, each.source)
        for summary in summaries
        for name, each in summary.definitions.items()
    ]
    return TextTable(
        "Definitions", ("figure", "unit", "definition", "read from"), list(dict.fromkeys(rows))
    )
