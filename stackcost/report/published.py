"""Published figures as tables: as they are printed, and a factor's way from claim to raw data."""

from collections.abc import Sequence

from stackcost.analysis.published import CalculationStep, RecomputedFactors
from stackcost.analysis.published_tables import Cell, Document, PublishedTable
from stackcost.analysis.summary import Factor
from stackcost.report.tables import TextTable
from stackcost.report.words import factor, number, pair, size


def published_table(published: RecomputedFactors | None, factors: Sequence[Factor]) -> TextTable:
    """Published factors from their claim to what their raw data say, and those measured here."""
    rows: list[tuple[str, ...]] = [
        (step.of, step.what, _step_value(step), step.source)
        for step in (published.steps if published else [])
    ]
    rows += [
        (
            found.name,
            f"measured here: {pair(found.above, found.below)}",
            factor(found.ratio),
            found.at,
        )
        for found in factors
        if published
    ]
    title = f"{published.title}, recomputed from its raw data" if published else ""
    return TextTable(title, ("factor", "what", "value", "source"), rows)


def printed_table(document: Document, table: PublishedTable) -> TextTable:
    """A published table with every number as it is printed."""
    return TextTable(
        f"{table.name}: {table.title}{f', {table.unit}' if table.unit else ''} "
        f"({document.title}, {table.page})",
        tuple(table.headings),
        [tuple(_printed(cell) for cell in row) for row in table.rows],
    )


def _printed(cell: Cell) -> str:
    if cell is None:
        return "none printed"
    return cell if isinstance(cell, str) else f"{cell:,.12g}"


def _step_value(step: CalculationStep) -> str:
    if step.unit == "1":
        return f"{number(step.value)}x"
    return size(step.value) if step.unit == "B" else f"{number(step.value)} {step.unit}"
