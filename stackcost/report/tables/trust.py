"""What a run's figures rest on: its machine, settings and definitions."""

from collections.abc import Mapping, Sequence
from typing import Any

from stackcost.analysis.summary import Summary
from stackcost.report.tables.text_table import TextTable
from stackcost.report.words import UNKNOWN


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
