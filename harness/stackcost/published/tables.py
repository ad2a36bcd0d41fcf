"""Published figures as tables: as they are printed, and a factor's way from claim to raw data."""

from collections.abc import Mapping, Sequence

from stackcost.analysis.extrapolate import cores_at_line_rate
from stackcost.analysis.paths import hops_of
from stackcost.analysis.summary import Factor, ServerResult, Summary
from stackcost.published.document import Cell, Document, PublishedTable, documents
from stackcost.published.match import NOT_MEASURED, PublishedMatch, places
from stackcost.published.recomputed import CalculationStep, RecomputedFactors
from stackcost.report.opened import OpenedRuns
from stackcost.report.tables import TextTable
from stackcost.report.words import (
    UNKNOWN,
    count,
    factor,
    number,
    pair,
    size,
    with_interval,
    with_range,
)
from stackcost.store import Manifest

NAMED = 2  # factors measured here that the answer names
SIDECAR = "envoy"  # in the names of the systems that a publication is of
US_OF_A_VCPU = 1e3  # per request, at the 1,000 requests per second that the figures are for
GAINS = 5  # column of `matches_table` that only tables with several rows have


def published_table(published: RecomputedFactors, factors: Sequence[Factor]) -> TextTable:
    """Published factors from their claim to what their raw data say, and those measured here."""
    rows: list[tuple[str, ...]] = [
        (step.of, step.what, _step_value(step), step.source) for step in published.steps
    ]
    rows += [
        (
            found.name,
            f"measured here: {pair(found.baseline, found.against)}",
            factor(found.ratio),
            found.at,
        )
        for found in factors
    ]
    title = f"{published.title}, recomputed from its raw data"
    return TextTable(title, ("factor", "what", "value", "source"), rows)


def published_answer(published: RecomputedFactors, factors: Sequence[Factor]) -> str:
    """The published factors, recomputed from their raw data, and the factors measured here."""
    parts = []
    for of in ("cpu", "memory"):
        steps = [step for step in published.steps if step.of == of and step.unit == "1"]
        own = [factor for factor in factors if factor.name == of and factor.ratio.median]
        here = ", ".join(
            f"{with_interval(factor.ratio)} ({factor.baseline})" for factor in own[:NAMED]
        )
        measured = f"measured here: {here}" if here else "not measured in these runs"
        parts.append(
            f"the claimed {of} factor is {number(steps[0].value)}; recomputed from the "
            f"publication's raw data it is {'at most ' * steps[-1].at_most}"
            f"{number(steps[-1].value)}; {measured}"
        )
    text = ". ".join(part[0].upper() + part[1:] for part in parts)
    return f"**{text}.**"


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


def cores_table(published: RecomputedFactors, servers: Sequence[ServerResult]) -> TextTable:
    """What one busy core carries and how many cores 100 Gb/s need: published, and here."""
    rows: list[tuple[str, ...]] = [
        (
            f"published: {each.system}",
            number(each.connections_per_core),
            number(each.gbps_per_core),
            number(each.mpps_per_core),
            f"{number(each.busy)}; claimed with idle cores: {number(each.claimed)}",
        )
        for each in published.cores
    ]
    for server in servers:
        here = cores_at_line_rate(server)
        told = (
            with_range(here.connections_per_core),
            with_range(here.bits_per_core),
            with_range(here.packets_per_core),
        )
        cores = with_range(here.cores) if here.cores.values else f"{UNKNOWN}: {here.cores.reason}"
        rows.append((f"measured here: {server.name}", *told, cores))
    return TextTable(
        "One busy core, and the cores for 100 Gb/s of payload",
        (
            "system",
            "connections/s of a core",
            "Gb/s of a core",
            "million packets/s of a core",
            "cores for 100 Gb/s",
        ),
        rows,
        reason=next(
            (here.cores.reason for here in map(cores_at_line_rate, servers) if here.cores.reason),
            "",
        ),
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
        dict.fromkeys(each.reason for each in found if each.reason.startswith(NOT_MEASURED))
    )


def conditions_here(runs: OpenedRuns) -> str:
    """What differs in every row: the machine, the link and the length of these runs."""
    pairs = [(run.manifest, run.summary.run) for run in runs.costs]
    pairs += [(run.manifest, run.summary.run) for run in runs.ceilings]
    lines = [f"- `{name}`: {_conditions(manifest)}" for manifest, name in pairs]
    return (
        "What differs in every row of the tables below: these runs had another machine, on which "
        "load and server are joined by virtual links without a rate:\n\n" + "\n".join(lines)
    )


def _conditions(manifest: Manifest) -> str:
    """The processor, the cores of each side, the kernel and the load of a run."""
    machine, experiment = manifest.machine, manifest.experiment
    processor, cores = machine.get("processors", {}), experiment["cores"]
    own, load_on = (count(len(cores[side]), "logical CPU") for side in ("server", "load"))
    http = experiment.get("http")
    load = "an ASTF profile"
    if http:
        load = f"{http['program']} on {http['stack']} for {number(http['sustain_s'])} s"
    return (
        f"{processor.get('model', 'unknown processor')}, {own} for the server, {load_on} for the "
        f"load ({load}), Linux "
        f"{machine.get('kernel', {}).get('release', 'unknown')}"
    )


def _heading(table: PublishedTable) -> str:
    return f"{table.name}: {table.title}{f', {table.unit}' if table.unit else ''}"


def _beside(match: PublishedMatch, table: PublishedTable) -> tuple[str, ...]:
    """The cells of a figure of ours."""
    figure = match.column
    if match.x is not None and (table.shape or match.published is None):
        figure += f" at {places(match.x, match.axis)}"
    if match.unit != table.unit:
        figure += f", {match.unit}"
    gains = [each for each in (match.published_gain, match.gain) if each is not None]
    return (
        figure,
        match.reason if match.published is None else number(match.published),
        f"{_digits(match.value)} ({_digits(match.low)}-{_digits(match.high)})",
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


def _step_value(step: CalculationStep) -> str:
    if step.unit == "1":
        return f"{number(step.value)}x"
    return size(step.value) if step.unit == "B" else f"{number(step.value)} {step.unit}"
