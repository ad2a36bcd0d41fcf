"""Figures measured here beside the published ones, joined by rule; or why none joins.

A figure joins a published one if the measurement is the same (`Measurement`) and stands at the same
place of the axis. The machine is another one, so that a figure's height says little. Its ratio to
the first joined row of the same column can be compared.
"""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from stackcost.report.http_figures import FIRST_GROUP, SINGULAR
from stackcost.report.published.document import (
    Document,
    Measurement,
    PublishedFigure,
    PublishedTable,
)
from stackcost.report.published.measured import (
    COMPUTED,
    PERCENTILE,
    WORKERS,
    MeasuredFigure,
    measured,
)
from stackcost.report.results.opened import OpenedRuns
from stackcost.report.words import number

NOT_MEASURED = "not measured"
TCP = {
    "today": "initial window 10, without Nagle",
    "published": "initial window 2, with Nagle",
    "": "settings that are not known",
}
SAME_SHARE = 1.3  # times, by which two shares of a ceiling may differ and count as the same
NO_FIGURE = "not a measurement: it describes the test bed or repeats other tables"


class PublishedMatch(BaseModel):
    """One figure of ours beside a published one, both in the table's unit; or why there is none.

    `published`: of an offered rate that is not printed, the row at about the same share of the
    ceiling. `low`, `high`: the bounds of the search, or the range of a test's rounds. `x`: on
    `axis`, which is the table's. `ratio`: ours : published. `published_gain`, `gain`: each divided
    by its own figure at the lowest x of the column that has both; None for that one. `reason`: why
    one of the two is None, or why both are there without a ratio.
    Without a figure of ours `column` may name several columns.
    """

    model_config = ConfigDict(frozen=True)

    table: str
    column: str = ""
    x: float | None = None
    axis: str = ""
    unit: str = ""
    published: float | None = None
    what: str = ""
    value: float | None = None
    low: float = 0.0
    high: float = 0.0
    ratio: float | None = None
    published_gain: float | None = None
    gain: float | None = None
    reason: str = ""


def matches(document: Document, runs: OpenedRuns) -> list[PublishedMatch]:
    """For every table: our figures for it, and for each column without one why there is none."""
    ours, lacking = list(measured(runs)), _not_measured(runs)
    found: list[PublishedMatch] = []
    for table in document.tables:
        printed = list(document.figures(table))
        joined = _joined(printed, ours)
        have = {each.column for each in joined}
        missing = [figure for figure in printed if figure.column not in have]
        found += [*joined, *_missing(document, table, missing, ours, lacking)]
        if not printed or table.here:
            found.append(PublishedMatch(table=table.name, reason=table.here or NO_FIGURE))
    return found


def comparable(every: Sequence[Document], runs: OpenedRuns) -> list[Document]:
    """The documents with a figure beside which one of ours stands.

    If there is none, those with a figure of a system and a kind that these runs measured: their
    tables then say what differs.
    """
    ours = list(measured(runs))
    printed = [(each, [f for table in each.tables for f in each.figures(table)]) for each in every]
    joined = [each for each, own in printed if any(f.of.joins(o.of) for f in own for o in ours)]
    return joined or [each for each, own in printed if any(_alike(f, o) for f in own for o in ours)]


def _not_measured(runs: OpenedRuns) -> dict[str, str]:
    """Why the runs could not measure any variant of a system that they had planned."""
    planned = {each.server: each.why for run in runs.costs for each in run.summary.not_measured}
    here = {each.server for run in runs.costs for each in run.summary.servers}
    return {system: why for system, why in planned.items() if system not in here}


def _missing(
    document: Document,
    table: PublishedTable,
    printed: Sequence[PublishedFigure],
    ours: Sequence[MeasuredFigure],
    lacking: Mapping[str, str],
) -> Iterator[PublishedMatch]:
    """Columns without a figure of ours, those with the same reason together."""
    systems: dict[str, list[PublishedFigure]] = {}
    for figure in printed:
        known = any(_alike(figure, own) for own in ours)
        key = figure.column if known else lacking.get(figure.of.system, "")
        systems.setdefault(key, []).append(figure)
    for key, figures in systems.items():
        why = f"{NOT_MEASURED}: {key}" if key in lacking.values() else _why(document, figures, ours)
        columns = ", ".join(dict.fromkeys(figure.column for figure in figures))
        yield PublishedMatch(table=table.name, column=columns, reason=why)


def _alike(figure: PublishedFigure, own: MeasuredFigure) -> bool:
    return (own.of.system, own.of.shape) == (figure.of.system, figure.of.shape)


def _joined(
    printed: Sequence[PublishedFigure], ours: Sequence[MeasuredFigure]
) -> list[PublishedMatch]:
    columns: dict[tuple[str, Measurement], list[PublishedFigure]] = {}
    for figure in printed:
        columns.setdefault((figure.column, figure.of), []).append(figure)
    return [
        match
        for (_, of), figures in columns.items()
        for match in _column([own for own in ours if of.joins(own.of)], figures)
    ]


def _column(
    ours: Sequence[MeasuredFigure], printed: Sequence[PublishedFigure]
) -> Iterator[PublishedMatch]:
    """Our figures beside one column; by run, from the lowest x on."""
    by_x = {figure.x: figure for figure in printed}
    first: dict[tuple[str, str], PublishedMatch] = {}
    for own in sorted(ours, key=lambda own: (own.run, own.x or 0.0)):
        if own.of.axis in COMPUTED and own.x not in by_x:
            continue
        nearest = min(printed, key=lambda row: abs((row.x or 0.0) - (own.x or 0.0)))
        lowest = min(row.x or 0.0 for row in printed)
        found = _pair(own, nearest, by_x.get(own.x), lowest)
        alike = _at_same_share(own, printed) if found.published is None else None
        if alike:
            found = _by_share(own, alike, found)
        base = first.get((own.run, own.series))
        if not (found.ratio or alike) or not found.published or not found.value:
            yield found
            continue
        if base and base.published and base.value:
            gains = {
                "published_gain": found.published / base.published,
                "gain": found.value / base.value,
            }
            found = found.model_copy(update=gains)
        else:
            first[own.run, own.series] = found
        yield found


def _at_same_share(
    own: MeasuredFigure, printed: Sequence[PublishedFigure]
) -> PublishedFigure | None:
    """The printed row at about the same share of its column's ceiling as ours is of its own."""
    if not own.share or _obstacles(printed[0], own):
        return None
    apart = {max(row.share / own.share, own.share / row.share): row for row in printed if row.share}
    return apart[min(apart)] if apart and min(apart) <= SAME_SHARE else None


def _by_share(own: MeasuredFigure, row: PublishedFigure, found: PublishedMatch) -> PublishedMatch:
    """Beside that row: its height has no ratio, and its growth can be compared."""
    assert row.x is not None
    words = (
        f"at {own.share:.0%} of the ceiling here, there at {row.share:.0%} of it "
        f"({places(row.x, own.of.axis)})"
    )
    return found.model_copy(update={"published": row.value, "reason": words})


def places(x: float, axis: str) -> str:
    """A place on an axis in words, such as "1 worker process"."""
    if axis == PERCENTILE:
        return f"percentile {x:g}"
    return f"{x:,.12g} {SINGULAR.sub(FIRST_GROUP, axis) if x == 1 else axis}"


def _pair(
    own: MeasuredFigure, any_row: PublishedFigure, row: PublishedFigure | None, lowest: float
) -> PublishedMatch:
    """One figure of ours in the column's unit. `row`: None if the column has none at its x; then
    `any_row` is its nearest one. Of fewer worker processes than the column has (`lowest`) the ratio
    is to that row, and `reason` says so.
    """
    size, reason = any_row.unit_size, ""
    fewer, obstacles = False, _obstacles(row or any_row, own)
    if row is None and own.x is not None and any_row.x is not None:
        reason = f"no row for {places(own.x, own.of.axis)}"
        if own.share and any_row.share:
            reason += f", nor at {own.share:.0%} of the ceiling, as it is here"
        else:
            reason += f"; {any_row.value:,g} for {places(any_row.x, own.of.axis)}"
        fewer = own.of.axis == WORKERS and own.x < lowest and not obstacles
    reason = "; ".join(filter(None, (reason, *obstacles)))
    if fewer:
        reason += ", which the ratio is to"
    return PublishedMatch(
        table=any_row.table,
        column=any_row.column,
        x=own.x,
        axis=own.of.axis,
        unit=any_row.unit,
        published=row.value if row else None,
        what=f"{own.what}, run {own.run}",
        value=own.value / size,
        low=own.low / size,
        high=own.high / size,
        ratio=own.value / size / any_row.value if fewer or (row and not reason) else None,
        reason=reason,
    )


def _why(
    document: Document, printed: Sequence[PublishedFigure], ours: Sequence[MeasuredFigure]
) -> str:
    """Why nothing joins these figures: what the nearest figure of ours differs in."""
    redo = f"to measure it: {document.measured_by}"
    same = [(figure, own) for figure in printed for own in ours if _alike(figure, own)]
    if not same:
        shapes = " and ".join(dict.fromkeys(figure.of.shape for figure in printed))
        systems = " and ".join(dict.fromkeys(figure.of.system for figure in printed))
        return f"these runs measured no {shapes} of {systems}; {redo}"
    figure, nearest = min(same, key=lambda pair: len(_differences(*pair)))
    value = f"{number(nearest.value / figure.unit_size)} {figure.unit}".strip()
    return (
        f"the nearest figure here, {value} ({nearest.what}), is of another measurement: "
        f"{'; '.join(_differences(figure, nearest))}; {redo}"
    )


def _differences(figure: PublishedFigure, own: MeasuredFigure) -> list[str]:
    """What differs between a published figure and one of ours of the same system and shape."""
    there, here = figure.of, own.of
    found = []
    if there.load != here.load:
        found.append(f"load by {_load(here)} instead of {_load(there)}")
    if there.response_bytes != here.response_bytes:
        found.append(f"responses of {_bytes(here)} instead of {_bytes(there)}")
    if there.tls != here.tls:
        found.append("over TLS" if here.tls else "without TLS")
    if there.tls and here.tls and there.certificate != here.certificate:
        found.append(f"a certificate of {here.certificate} instead of {there.certificate}")
    if there.resumed != here.resumed:
        found.append("resumed handshakes instead of full ones")
    if there.connections not in (0, here.connections) and there.load == here.load:
        told = f"{here.connections:,} connections of each client instead of {there.connections:,}"
        found.append(told)
    if there.version != here.version:
        found.append(f"HTTP/{here.version} instead of HTTP/{there.version}")
    found += _marked(figure, own)
    if there.axis != here.axis:
        found.append(f"by {here.axis} instead of by {there.axis or 'an unknown number of cores'}")
    elif figure.x != own.x:
        found.append(f"{here.axis}: {own.x:,g} instead of {figure.x:,g}")
    return found


def _obstacles(figure: PublishedFigure, own: MeasuredFigure) -> list[str]:
    """Why there is no ratio of a figure of ours to the published one beside it."""
    return [*_marked(figure, own), *([own.limit] if own.limit else [])]


def _marked(figure: PublishedFigure, own: MeasuredFigure) -> list[str]:
    """What differs in `MARKED`."""
    there, here = figure.of, own.of
    found = []
    if there.tcp != here.tcp:
        found.append(f"TCP with {TCP[here.tcp]} instead of {TCP[there.tcp]}")
    if there.network != here.network:
        found.append(f"over a link with {here.network}")
    if there.reuseport != here.reuseport:
        found.append("one listening socket of all workers instead of one for each")
    if there.beside != here.beside:
        found.append(f"beside {_others(here)} instead of {_others(there)}")
    return found


def _others(of: Measurement) -> str:
    lengths = " and ".join(f"{length:,}" for length in of.beside)
    return f"clients of {lengths} bytes" if lengths else "no other clients"


def _load(of: Measurement) -> str:
    return "an ASTF profile" if of.load == "ASTF profile" else of.load


def _bytes(of: Measurement) -> str:
    return " and ".join(f"{length:,}" for length in of.response_bytes) + " bytes"
