"""What was measured here of the same shape as a published table, or why nothing was."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from harness.analysis.published_tables import PublishedTable
from harness.report.opened import OpenedCeilings, OpenedRuns

NEAR = 4.0  # times: responses whose lengths differ by more are not of one shape
EMPTY = 1000  # bytes: a response up to this is like one without a body
SEARCHED = {"connections": "connections", "requests": "requests"}
NOT_HERE = {
    "throughput": "not measured here: the suite offers connections and requests, and has no search "
    "for bytes per second; a namespace pair has no line rate to compare with",
    "proxied": "not measured here: no proxy is among the suite's servers",
    "latency": "not measured here: it is of requests at a constant rate through a proxy, and no "
    "proxy is among the suite's servers",
}


class Beside(BaseModel):
    """One figure of ours for `table`, in the table's unit; `value` None with the `reason`.

    `low`, `high`: the bounds of the search. `x`: the number of workers.
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
        if _near(table, run)
        for ceiling in run.summary.ceilings
        if ceiling.of == wanted and ceiling.server.startswith("nginx/kernel")
        for rate in ceiling.rates
        if rate.name == "NDR" and rate.value is not None and rate.lower is not None
    ]


def _near(table: PublishedTable, run: OpenedCeilings) -> bool:
    length = table.response_bytes or 0
    if length <= EMPTY:
        return run.response_bytes <= EMPTY
    return length / NEAR <= run.response_bytes <= length * NEAR


def _why(table: PublishedTable) -> str:
    if table.shape in NOT_HERE:
        return NOT_HERE[table.shape]
    return (
        f"not measured here: none of these runs searched for the ceiling of {table.shape} of "
        f"nginx/kernel with responses of about {table.response_bytes:,} bytes; "
        f"stackcost ceiling FILE --of {table.shape} does"
    )
