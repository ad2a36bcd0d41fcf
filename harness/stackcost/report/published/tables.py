"""Published figures as tables: as they are printed, and beside what was measured here."""

from collections.abc import Mapping, Sequence

from stackcost.analysis.summary import Summary
from stackcost.contracts.words import count
from stackcost.report.flags import mostly_disturbed
from stackcost.report.paths import hops_of
from stackcost.report.published.document import Cell, Document, PublishedTable, documents
from stackcost.report.published.match import NOT_MEASURED, PublishedMatch, places
from stackcost.report.results.opened import OpenedRuns
from stackcost.report.text_table import TextTable
from stackcost.report.words import number
from stackcost.store import Manifest

SIDECAR = "envoy"  # in the names of the systems that a publication is of
US_OF_A_VCPU = 1e3  # per request, at the 1,000 requests per second that the figures are for
GAINS = 5  # column of `matches_table` that only tables with several rows have


def sidecar_table(summary: Summary) -> TextTable:
    """What a mesh says of its sidecar, as a multiple of each Envoy that was measured here."""
    document, hops = documents()["paths"], hops_of(summary)
    sidecars = [hop for hop in (hops.hops if hops else ()) if SIDECAR in hop.system]
    ours = {hop.system: cost for hop in sidecars if (cost := hop.added_whole.median)}
    (table,) = document.tables
    rows = [
        (
            f"{row[0]}, {table.name}",
            number(float(row[1] or 0) * US_OF_A_VCPU),
            *(f"{float(row[1] or 0) * US_OF_A_VCPU / cost:.2f}x" for cost in ours.values()),
        )
        for row in table.rows
    ]
    return TextTable(
        f"Published beside: {document.conditions}",
        ("publication", "us per request", *(f"times {name}" for name in ours)),
        rows if ours else [],
    )


def printed_table(document: Document, table: PublishedTable) -> TextTable:
    """A published table with every number as it is printed."""
    return TextTable(
        f"{_heading(table)} ({document.title}, {table.page})",
        tuple(table.headings),
        [tuple(_printed(cell) for cell in row) for row in table.rows],
    )


def matches_table(document: Document, found: Sequence[PublishedMatch]) -> TextTable:
    """Table by table: what is printed, ours beside it and the ratio, or why there is none."""
    tables = {table.name: table for table in document.tables}
    numbers = {why: number for number, why in enumerate(not_measured(found), 1)}
    rows: list[tuple[str, ...]] = []
    named = ""
    for each in found:
        table = tables[each.table]
        title = "" if each.table == named else _heading(table)  # once, in its first row
        named = each.table
        own = _alone(each, numbers) if each.value is None else _beside(each, table)
        rows.append((title, *own))
    columns = (
        "table",
        "figure",
        "published",
        "measured here (range)",
        "here : published",
        "times the first row: published, here",
        "system, test and run; or why there is no figure",
    )
    title = f"{document.title}: published and measured here"
    kept = [at for at in range(len(columns)) if at != GAINS or any(row[at] for row in rows)]
    return TextTable(
        title, tuple(columns[at] for at in kept), [tuple(row[at] for at in kept) for row in rows]
    )


def not_measured(found: Sequence[PublishedMatch]) -> list[str]:
    """Why systems could not be measured, each reason once, in the order of `matches_table`."""
    return list(
        dict.fromkeys(each.reason for each in found if each.reason.startswith(f"{NOT_MEASURED}: "))
    )


def conditions_here(runs: OpenedRuns) -> str:
    """What differs in every row: the machine, what else it did, the link, the runs' length."""
    told = [
        (each.manifest, each.summary.run, mostly_disturbed(each.summary)) for each in runs.costs
    ]
    told += [(each.manifest, each.summary.run, "") for each in runs.ceilings]
    lines = [
        f"- `{name}`: {_conditions(manifest)}. {busy}".strip() for manifest, name, busy in told
    ]
    return (
        "What differs in every row of the tables below: these runs had another machine, on which "
        "load and server are joined by virtual links without a rate:\n\n" + "\n".join(lines)
    )


def _conditions(manifest: Manifest) -> str:
    """The processor, the cores of each side, the kernel and the load of a run."""
    machine, cores = manifest.machine, manifest.experiment["cores"]
    own, load_on = (count(len(cores[side]), "logical CPU") for side in ("server", "load"))
    http = manifest.experiment["http"]
    load = "an ASTF profile"
    if http:
        load = f"{http['program']} on {http['stack']} for {number(http['sustain_s'])} s"
    return (
        f"{machine['processors']['model']}, {own} for the server, {load_on} for the load ({load}), "
        f"Linux {machine['kernel']['release']}"
    )


def _heading(table: PublishedTable) -> str:
    return f"{table.name}: {table.title}{f', {table.unit}' if table.unit else ''}"


def _beside(match: PublishedMatch, table: PublishedTable) -> tuple[str, ...]:
    """The cells of a figure of ours."""
    figure = match.column
    if match.x is not None and (table.shape or match.published is None):
        figure += f" at {places(match.x, match.axis)}"
    if match.unit != table.unit and match.unit not in match.column:
        figure += f", {match.unit}"
    value = f"{_digits(match.value)} ({_digits(match.low)}-{_digits(match.high)})"
    if match.published is not None and match.reason:
        value += f"; {match.reason}"
    gains = [each for each in (match.published_gain, match.gain) if each is not None]
    return (
        figure,
        match.reason if match.published is None else number(match.published),
        value,
        _digits(match.ratio),
        ", ".join(map(_digits, gains)),
        match.what,
    )


def _alone(match: PublishedMatch, numbers: Mapping[str, int]) -> tuple[str, ...]:
    """The cells of published columns without a figure of ours."""
    told = numbers.get(match.reason)
    why = f"{NOT_MEASURED} (reason {told} below)" if told else match.reason
    return match.column, "", "", "", "", why


def _digits(value: float | None) -> str:
    """A number; below 0.1 with two significant digits."""
    if value is None:
        return ""
    return number(value) if value >= 0.1 else f"{value:.2g}"


def _printed(cell: Cell) -> str:
    if cell is None:
        return "none printed"
    return cell if isinstance(cell, str) else f"{cell:,.12g}"
