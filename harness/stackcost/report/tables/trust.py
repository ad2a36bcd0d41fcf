"""The basis of a run's figures: its machine, settings and definitions."""

from collections.abc import Mapping, Sequence
from typing import Any

from stackcost.analysis.head import Head
from stackcost.analysis.summary import Summary
from stackcost.report.text_table import TextTable
from stackcost.report.words import UNKNOWN


def tuning_table(summary: Summary) -> TextTable:
    """The settings of every tier: the wanted value, the old value, and the result."""
    return TextTable(
        "Tuning: what each tier changed",
        ("server", "setting", "scope", "before", "after", "source", "why not set"),
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
    """The machine and its settings, which are needed to interpret the figures."""
    return TextTable("Machine", ("property", "value"), [(k, str(v)) for k, v in machine.items()])


def definition_table(summaries: Sequence[Head]) -> TextTable:
    """The definition and source of every figure; a definition that runs share is listed once."""
    rows = [
        (name, each.unit, each.definition, each.source)
        for summary in summaries
        for name, each in summary.definitions.items()
    ]
    return TextTable(
        "Definitions", ("figure", "unit", "definition", "read from"), list(dict.fromkeys(rows))
    )
