"""Published figures as tables: as they are printed, and a factor's way from claim to raw data."""

from collections.abc import Sequence

from stackcost.analysis.extrapolate import cores_at_line_rate
from stackcost.analysis.published import CalculationStep, RecomputedFactors
from stackcost.analysis.published_tables import Cell, Document, PublishedTable
from stackcost.analysis.summary import Factor, ServerResult
from stackcost.report.published_match import PublishedMatch
from stackcost.report.tables import TextTable
from stackcost.report.words import UNKNOWN, factor, number, pair, size, with_range


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


def cores_table(published: RecomputedFactors, servers: Sequence[ServerResult]) -> TextTable:
    """What one busy core carries and how many cores 100 Gb/s need: published, and here."""
    rows: list[tuple[str, ...]] = [
        (
            f"published: {each.system}",
            number(each.connections_per_core),
            number(each.gbps_per_core),
            f"{number(each.busy)}; claimed with idle cores: {number(each.claimed)}",
        )
        for each in published.cores
    ]
    for server in servers:
        here = cores_at_line_rate(server)
        told = (with_range(here.connections_per_core), with_range(here.bits_per_core))
        cores = with_range(here.cores) if here.cores.values else f"{UNKNOWN}: {here.cores.reason}"
        rows.append((f"measured here: {server.name}", *told, cores))
    return TextTable(
        "One busy core, and the cores for 100 Gb/s of payload",
        ("system", "connections/s of a core", "Gb/s of a core", "cores for 100 Gb/s"),
        rows,
        reason=next(
            (here.cores.reason for here in map(cores_at_line_rate, servers) if here.cores.reason),
            "",
        ),
    )


def printed_table(document: Document, table: PublishedTable) -> TextTable:
    """A published table with every number as it is printed."""
    return TextTable(
        f"{table.name}: {table.title}{f', {table.unit}' if table.unit else ''} "
        f"({document.title}, {table.page})",
        tuple(table.headings),
        [tuple(_printed(cell) for cell in row) for row in table.rows],
    )


def matches_table(document: Document, found: Sequence[PublishedMatch]) -> TextTable:
    """The published figures that have one of ours beside them."""
    ours = [each for each in found if each.value is not None]
    return TextTable(
        f"{document.title}: published and measured here",
        (
            "table",
            "figure",
            "at",
            "unit",
            "published",
            "measured here (range)",
            "here : published",
            "published, times its first row",
            "here, times its first row",
            "system, test and run",
        ),
        [
            (
                each.table,
                each.column,
                "" if each.x is None else number(each.x),
                each.unit,
                each.reason if each.published is None else number(each.published),
                f"{number(each.value)} ({number(each.low)}-{number(each.high)})",
                "" if each.ratio is None else number(each.ratio),
                "" if each.published_gain is None else number(each.published_gain),
                "" if each.gain is None else number(each.gain),
                each.what,
            )
            for each in ours
        ],
    )


def missing_matches(found: Sequence[PublishedMatch]) -> list[str]:
    """A sentence for each reason why tables have none of our figures beside them."""
    reasons: dict[str, list[str]] = {}
    for each in found:
        if each.value is None:
            reasons.setdefault(each.reason, []).append(each.table)
    return [f"{', '.join(tables)}: {reason}." for reason, tables in reasons.items()]


def _printed(cell: Cell) -> str:
    if cell is None:
        return "none printed"
    return cell if isinstance(cell, str) else f"{cell:,.12g}"


def _step_value(step: CalculationStep) -> str:
    if step.unit == "1":
        return f"{number(step.value)}x"
    return size(step.value) if step.unit == "B" else f"{number(step.value)} {step.unit}"
