"""The figures of each load that have no table of their own."""

from collections.abc import Callable, Sequence

from stackcost.analysis.figures import registry
from stackcost.analysis.head import COST, Head, definition
from stackcost.analysis.spread import Spread
from stackcost.analysis.summary import Summary
from stackcost.report.text_table import TextTable
from stackcost.report.words import UNKNOWN, number, with_range

IN_LOAD_TABLE = ("completed_cps", COST, "generator_busy")


def figure_table(summary: Summary) -> TextTable:
    """All such figures, whoever brought them; the report's definitions say what each is."""
    names = [name for name in _names(summary) if name not in IN_LOAD_TABLE]
    title = "All other figures of each load: median of the rounds"
    return _table(summary, title, names, lambda spread: number(spread.median)).brief()


def own_figure_table(summary: Summary) -> TextTable:
    """Figures that the user's own collectors brought; without rows if there are none."""
    known = {name: definition(name, summary.definitions) for name in _names(summary)}
    names = [name for name, what in known.items() if what and what.own]
    title = "Figures of your own collectors: median (min-max of the rounds)"
    return _table(summary, title, names, with_range)


def system_figure_table(summary: Head) -> TextTable:
    """Every figure of every system of a run of ceilings or events, a row for each."""
    rows: list[tuple[str, ...]] = [
        (
            each.system,
            each.name,
            each.of if each.at is None else f"{number(each.at)}/s",
            "" if each.spread.unit == "1" else each.spread.unit,
            with_range(each.spread),
            each.spread.reason if each.spread.median is None else "",
        )
        for each in summary.system_figures()
    ]
    columns = ("system", "figure", "of", "unit", "median (min-max)", "why unknown")
    return TextTable("All figures", columns, rows, named=2)


def _names(summary: Summary) -> Sequence[str]:
    names = dict.fromkeys(name for _, level in summary.loads for name in level.figures)
    return list(filter(registry.in_loads, names))


def _table(
    summary: Summary, title: str, names: Sequence[str], cell: Callable[[Spread], str]
) -> TextTable:
    """A row for each load, and a column for each figure."""
    spreads = {name: [level[name] for _, level in summary.loads if name in level] for name in names}
    units = {name: next(each.unit for each in found) for name, found in spreads.items()}
    return TextTable(
        title,
        (
            "system",
            "load /s",
            *(name if units[name] == "1" else f"{name}, {units[name]}" for name in names),
        ),
        [
            (
                server.name,
                level.load,
                *(cell(level[name]) if name in level else UNKNOWN for name in names),
            )
            for server, level in summary.loads
            if names
        ],
        named=2,
        reason=next((each.reason for found in spreads.values() for each in found), ""),
    )
