"""Figures measured here beside the published ones, joined by rule; or why none joins.

A figure joins a published one if the measurement is the same (`Measurement`) and stands at the same
place of the axis. The machine is another one, so that a figure's height says little. Its ratio to
the first joined row of the same column can be compared.
"""

from collections.abc import Iterator, Sequence

from pydantic import BaseModel, ConfigDict

from stackcost.analysis.ceiling.summary import Ceiling
from stackcost.analysis.published_tables import (
    Document,
    Measurement,
    PublishedFigure,
    Shape,
)
from stackcost.analysis.spread import Spread
from stackcost.analysis.summary import HttpFigures
from stackcost.contracts.http import P256, RSA, Certificate
from stackcost.contracts.system_names import axis_of, length_of
from stackcost.report.http import Curve, series
from stackcost.report.http.figures import SHARED
from stackcost.report.opened import OpenedCeilings, OpenedCosts, OpenedRuns, workers_in
from stackcost.store import Manifest

WORKERS, CORES, OFFERED = "worker processes", "cores", "requests/s"
SEARCHED: dict[str, Shape] = {"connections": "connections", "requests": "requests"}
KEYS: tuple[Certificate, ...] = (RSA, P256)
NO_FIGURE = "not a measurement: it describes the test bed or repeats other tables"


class MeasuredFigure(BaseModel):
    """One figure of ours, in the unit of its shape. `what`: system and test, in words."""

    model_config = ConfigDict(frozen=True)

    of: Measurement
    x: float | None
    what: str
    run: str
    value: float
    low: float
    high: float


class PublishedMatch(BaseModel):
    """One figure of ours beside a published one, both in the table's unit; or why there is none.

    `low`, `high`: the bounds of the search, or the range of a test's rounds. `x`: on the table's
    axis. `ratio`: ours : published. `published_gain`, `gain`: each divided by its own figure at the
    lowest x of the column that has both; None for that one. `reason`: why one of the two is None.
    """

    model_config = ConfigDict(frozen=True)

    table: str
    column: str = ""
    x: float | None = None
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
    """For every table: our figures for it, or one entry that says why there are none."""
    ours = list(measured(runs))
    found: list[PublishedMatch] = []
    for table in document.tables:
        printed = list(document.figures(table))
        joined = _joined(printed, ours)
        found += joined or [PublishedMatch(table=table.name, reason=_why(document, printed, ours))]
    return found


def measured(runs: OpenedRuns) -> Iterator[MeasuredFigure]:
    """Every figure of these runs that a published one may stand beside."""
    for costs in runs.costs:
        yield from _tested(costs)
        yield from _memory(costs)
    for ceilings in runs.ceilings:
        for ceiling in ceilings.summary.ceilings:
            yield from _searched(ceilings, ceiling)


def _joined(
    printed: Sequence[PublishedFigure], ours: Sequence[MeasuredFigure]
) -> list[PublishedMatch]:
    columns: dict[tuple[str, Measurement], list[PublishedFigure]] = {}
    for figure in printed:
        columns.setdefault((figure.column, figure.of), []).append(figure)
    return [
        match
        for (_, of), figures in columns.items()
        for match in _column([own for own in ours if own.of == of], figures)
    ]


def _column(
    ours: Sequence[MeasuredFigure], printed: Sequence[PublishedFigure]
) -> Iterator[PublishedMatch]:
    """Our figures beside one column; by run, from the lowest x on."""
    by_x = {figure.x: figure for figure in printed}
    first: dict[str, PublishedMatch] = {}
    for own in sorted(ours, key=lambda own: (own.run, own.x or 0.0)):
        found = _pair(own, printed[0], by_x.get(own.x))
        base = first.get(own.run)
        if found.published and base and base.published and base.value and found.value:
            found = found.model_copy(
                update={
                    "published_gain": found.published / base.published,
                    "gain": found.value / base.value,
                }
            )
        elif found.published:
            first[own.run] = found
        yield found


def _pair(
    own: MeasuredFigure, any_row: PublishedFigure, row: PublishedFigure | None
) -> PublishedMatch:
    """One figure of ours in the column's unit. `row`: None if the column has none at its x."""
    size = any_row.unit_size
    reason = f"the table has no row for {own.x:,g} {own.of.axis}" if row is None else ""
    return PublishedMatch(
        table=any_row.table,
        column=any_row.column,
        x=own.x,
        unit=any_row.unit,
        published=row.value if row else None,
        what=f"{own.what}, run {own.run}",
        value=own.value / size,
        low=own.low / size,
        high=own.high / size,
        ratio=own.value / size / row.value if row else None,
        reason=reason,
    )


def _tested(run: OpenedCosts) -> Iterator[MeasuredFigure]:
    """The figures of HTTP clients. Those of clients on the server's own cores join nothing."""
    if not run.summary.has_tests:
        return
    for one in series(run.summary):
        for name, points in one.points.items():
            for count, level in points.items():
                value, http = one.value(level), level.http
                if http is None or one.x.endswith(SHARED):
                    continue
                for axis, x in _places(run, one, count):
                    of = _requested(name, one, axis, http, _certificate(run, name))
                    yield from _known(of, x, f"{name}, {one.name}", run.summary.run, value)


def _certificate(run: OpenedCosts, name: str) -> Certificate:
    """The key of a system's certificate: in its name if it varies, else in the plan."""
    varied = name.partition(":")[2].split(",")
    planned: Certificate = run.manifest.experiment.get("nginx", {}).get("certificate", RSA)
    return next((key for key in KEYS if key in varied), planned)


def _requested(
    name: str, one: Curve, axis: str, http: HttpFigures, certificate: Certificate
) -> Measurement:
    return Measurement(
        system=_system(name),
        shape=one.what,
        axis=axis,
        response_bytes=tuple(http.body_bytes),
        tls=http.tls,
        certificate=certificate if http.tls else RSA,
        resumed=http.resumed,
        version=http.version,
    )


def _places(run: OpenedCosts, one: Curve, count: int) -> Iterator[tuple[str, float]]:
    """The places of a test's figure on the axes that published tables have."""
    if one.offered:
        yield OFFERED, one.offered
        return
    varied = {axis_of(server.name)[2] for server in run.summary.servers}
    yield WORKERS, count if WORKERS in varied else workers_in(run.manifest)
    yield CORES, count if CORES in varied else _cores_in(run.manifest)


def _memory(run: OpenedCosts) -> Iterator[MeasuredFigure]:
    """Bytes per open flow."""
    if run.summary.has_tests:
        return
    for server in run.summary.servers:
        if server.memory:
            of = Measurement(system=_system(server.name), shape="memory", load="ASTF profile")
            what = f"{server.name}, slope over open flows"
            yield from _known(of, None, what, run.summary.run, server.memory.total)


def _searched(run: OpenedCeilings, ceiling: Ceiling) -> Iterator[MeasuredFigure]:
    """The highest load without loss (NDR) of a search."""
    shape = SEARCHED.get(ceiling.of)
    if shape is None:
        return
    for rate in ceiling.rates:
        if rate.name != "NDR" or rate.value is None or rate.lower is None:
            continue
        name, count, axis = axis_of(ceiling.server)
        yield MeasuredFigure(
            of=Measurement(
                system=_system(name),
                shape=shape,
                load="ASTF profile",
                axis=CORES,
                response_bytes=(length_of(name) or run.response_bytes,),
            ),
            x=count if axis == CORES else _cores_in(run.manifest),
            what=f"{ceiling.server}, NDR",
            run=run.summary.run,
            value=rate.value,
            low=min(rate.value, rate.lower),
            high=max(rate.value, rate.upper or rate.lower),
        )


def _known(
    of: Measurement, x: float | None, what: str, run: str, value: Spread
) -> Iterator[MeasuredFigure]:
    low, middle, high = value.minimum, value.median, value.maximum
    if middle is not None and low is not None and high is not None:
        yield MeasuredFigure(of=of, x=x, what=what, run=run, value=middle, low=low, high=high)


def _system(name: str) -> str:
    """A system's name without the settings that the experiment varies."""
    return name.partition(":")[0]


def _cores_in(manifest: Manifest) -> int:
    return len(manifest.experiment["cores"]["server"])


def _why(
    document: Document, printed: Sequence[PublishedFigure], ours: Sequence[MeasuredFigure]
) -> str:
    """Why nothing joins a table: what the nearest figure of ours differs in."""
    if not printed:
        return NO_FIGURE
    redo = f"to measure it: {document.measured_by}"
    same = [
        (figure, own)
        for figure in printed
        for own in ours
        if (own.of.system, own.of.shape) == (figure.of.system, figure.of.shape)
    ]
    if not same:
        of = printed[0].of
        systems = " and ".join(dict.fromkeys(figure.of.system for figure in printed))
        return f"these runs measured no {of.shape} of {systems}; {redo}"
    differing = min((_differences(figure, own) for figure, own in same), key=len)
    return f"the nearest figure here is of another measurement: {'; '.join(differing)}; {redo}"


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
    if there.version != here.version:
        found.append(f"HTTP/{here.version} instead of HTTP/{there.version}")
    if there.axis != here.axis:
        found.append(f"by {here.axis} instead of by {there.axis or 'an unknown number of cores'}")
    elif figure.x != own.x:
        found.append(f"{here.axis}: {own.x:,g} instead of {figure.x:,g}")
    return found


def _load(of: Measurement) -> str:
    return "an ASTF profile" if of.load == "ASTF profile" else of.load


def _bytes(of: Measurement) -> str:
    return " and ".join(f"{length:,}" for length in of.response_bytes) + " bytes"
