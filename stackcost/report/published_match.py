"""Figures measured here that are comparable with a published table, or why there are none."""

from pydantic import BaseModel, ConfigDict

from stackcost.analysis.published_tables import Document, PublishedTable
from stackcost.contracts.system_names import axis_of
from stackcost.report.http import Curve, series
from stackcost.report.opened import OpenedCosts, OpenedRuns, workers_in

NEAR = 4.0  # times: responses whose lengths differ by more are not of one shape
EMPTY = 1000  # bytes: a response up to this is like one without a body
SEARCHED = {"connections": "connections", "requests": "requests"}
WORKERS, OFFERED = "worker processes", "requests/s"  # what a table's rows count
EXPERIMENTS = {
    "nginx": "experiments/nginx_cookbook.yaml",
    "haproxy": "experiments/haproxy_cookbook.yaml",
}


class PublishedMatch(BaseModel):
    """One figure of ours for `table`, in the table's unit; `value` None with the `reason`.

    `low`, `high`: the bounds of the search, or the range of a test's rounds. `x`: on the table's
    axis, the number of workers or the offered rate.
    """

    model_config = ConfigDict(frozen=True)

    table: str
    what: str = ""
    x: float | None = None
    value: float | None = None
    low: float = 0.0
    high: float = 0.0
    reason: str = ""


def matches(document: Document, runs: OpenedRuns) -> list[PublishedMatch]:
    """For every table with a shape: what these runs measured of it, or one entry that says why
    there is nothing.

    A figure joins a table that is of the same system, over the kernel's stack and without TLS,
    measures the same, and has the same axis.
    """
    found: list[PublishedMatch] = []
    for table in document.tables:
        if table.shape:
            ours = _searched(document, table, runs) + _tested(document, table, runs)
            found += ours or [PublishedMatch(table=table.name, reason=_why(document, table))]
    return found


def _tested(document: Document, table: PublishedTable, runs: OpenedRuns) -> list[PublishedMatch]:
    """The figures of HTTP clients."""
    return [
        each
        for run in runs.costs
        if run.summary.has_tests
        for one in series(run.summary)
        if one.what == table.shape
        for name in one.points
        if _is_of(document, name)
        for each in _points(table, run, one, name)
    ]


def _points(table: PublishedTable, run: OpenedCosts, one: Curve, name: str) -> list[PublishedMatch]:
    """One system's figures of a test, by what the table's rows count."""
    found = []
    for count, level in one.points[name].items():
        http, value = level.http, one.value(level)
        if http is None or http.tls or http.body_bytes != [table.response_bytes or 0]:
            continue
        if value.median is None or value.minimum is None or value.maximum is None:
            continue
        x = _place(table, run, one, count)
        if x is not None:
            found.append(
                PublishedMatch(
                    table=table.name,
                    what=f"{name}, {one.name}, {one.at(count)}, run {run.summary.run}",
                    x=x,
                    value=value.median / table.unit_size,
                    low=value.minimum / table.unit_size,
                    high=value.maximum / table.unit_size,
                )
            )
    return found


def _place(table: PublishedTable, run: OpenedCosts, one: Curve, count: int) -> float | None:
    """The value of a level on the table's axis; None if it has none."""
    if table.x == OFFERED:
        return one.offered or None
    if table.x != WORKERS or not one.x.startswith(WORKERS):
        return None
    varied = any(axis_of(server.name)[2] for server in run.summary.servers)
    return count if varied else workers_in(run.manifest)


def _searched(document: Document, table: PublishedTable, runs: OpenedRuns) -> list[PublishedMatch]:
    """Ceilings that were searched for."""
    wanted = SEARCHED.get(table.shape or "")
    if table.x != WORKERS:
        return []
    return [
        PublishedMatch(
            table=table.name,
            what=f"{ceiling.server}, NDR, {run.response_bytes:,} bytes, run {run.summary.run}",
            x=workers_in(run.manifest),
            value=rate.value / table.unit_size,
            low=min(rate.value, rate.lower) / table.unit_size,
            high=max(rate.value, rate.upper or rate.lower) / table.unit_size,
        )
        for run in runs.ceilings
        if _alike(table.response_bytes or 0, run.response_bytes)
        for ceiling in run.summary.ceilings
        if ceiling.of == wanted and _is_of(document, ceiling.server)
        for rate in ceiling.rates
        if rate.name == "NDR" and rate.value is not None and rate.lower is not None
    ]


def _is_of(document: Document, name: str) -> bool:
    """Whether a system's name is that of the document's system over the kernel's stack."""
    return name.partition(":")[0] == f"{document.system}/kernel"


def _alike(published: int, ours: int) -> bool:
    """Whether responses of these lengths are of one shape."""
    if published <= EMPTY:
        return ours <= EMPTY
    return published / NEAR <= ours <= published * NEAR


def _why(document: Document, table: PublishedTable) -> str:
    system, length = f"{document.system}/kernel", f"{table.response_bytes or 0:,} bytes"
    return (
        f"not measured here: none of these runs measured {table.shape} of {system} with responses "
        f"of {length}; to measure it: stackcost run {EXPERIMENTS[document.system]}"
    )
