"""What was measured here of the same shape as a published table, or why nothing was."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from harness.analysis.published_tables import PublishedTable
from harness.report.http import series
from harness.report.opened import OpenedRuns

NEAR = 4.0  # times: responses whose lengths differ by more are not of one shape
EMPTY = 1000  # bytes: a response up to this is like one without a body
SEARCHED = {"connections": "connections", "requests": "requests"}
OF_A_PROXY = (
    "not held against a figure of these runs: it is of a proxy, and those of HAProxy here have "
    "tables of their own; stackcost run experiments/haproxy_cookbook.yaml measures them"
)
NOT_HERE = {
    "throughput": "not measured here: none of these runs has tests of throughput by HTTP clients; "
    "stackcost run experiments/nginx_cookbook.yaml does",
    "proxied": OF_A_PROXY,
    "latency": OF_A_PROXY,
}


class Beside(BaseModel):
    """One figure of ours for `table`, in the table's unit; `value` None with the `reason`.

    `low`, `high`: the bounds of the search, or the range of a test's rounds. `x`: the number of
    workers.
    """

    model_config = ConfigDict(frozen=True)

    table: str
    what: str = ""
    x: float | None = None
    value: float | None = None
    low: float = 0.0
    high: float = 0.0
    reason: str = ""


def beside(tables: Sequence[PublishedTable], runs: OpenedRuns) -> list[Beside]:
    """For every table with a shape: what these runs measured of it, or one entry that says why
    there is nothing.
    """
    found: list[Beside] = []
    for table in tables:
        if table.shape:
            found += _of(table, runs) or [Beside(table=table.name, reason=_why(table))]
    return found


def _of(table: PublishedTable, runs: OpenedRuns) -> list[Beside]:
    return _searched(table, runs) + _tested(table, runs)


def _tested(table: PublishedTable, runs: OpenedRuns) -> list[Beside]:
    """What HTTP clients reached, by workers or cores; the kernel's stack alone, and without TLS."""
    found = []
    for summary in runs.tested:
        for one in series(summary):
            for name, points in one.points.items():
                for x, level in points.items():
                    http, value = level.http, one.value(level)
                    if http is None or http.tls or one.what != table.shape:
                        continue
                    if value.median is None or value.minimum is None or value.maximum is None:
                        continue
                    if http.body_bytes != [table.response_bytes or 0]:
                        continue
                    found.append(
                        Beside(
                            table=table.name,
                            what=f"{name}, {one.name}, {x} {one.x}, run {summary.run}",
                            x=x,
                            value=value.median,
                            low=value.minimum,
                            high=value.maximum,
                        )
                    )
    return found


def _searched(table: PublishedTable, runs: OpenedRuns) -> list[Beside]:
    wanted = SEARCHED.get(table.shape or "")
    return [
        Beside(
            table=table.name,
            what=f"{ceiling.server}, NDR, {run.response_bytes:,} bytes, run {run.summary.run}",
            x=run.workers,
            value=rate.value,
            low=min(rate.value, rate.lower),
            high=max(rate.value, rate.upper or rate.lower),
        )
        for run in runs.ceilings
        if _alike(table.response_bytes or 0, run.response_bytes)
        for ceiling in run.summary.ceilings
        if ceiling.of == wanted and ceiling.server.startswith("nginx/kernel")
        for rate in ceiling.rates
        if rate.name == "NDR" and rate.value is not None and rate.lower is not None
    ]


def _alike(published: int, ours: int) -> bool:
    """Whether responses of these lengths are of one shape."""
    if published <= EMPTY:
        return ours <= EMPTY
    return published / NEAR <= ours <= published * NEAR


def _why(table: PublishedTable) -> str:
    if table.shape in NOT_HERE:
        return NOT_HERE[table.shape]
    return (
        f"not measured here: none of these runs searched for the ceiling of {table.shape} of "
        f"nginx/kernel with responses of about {table.response_bytes:,} bytes; "
        f"stackcost ceiling FILE --of {table.shape} does"
    )
