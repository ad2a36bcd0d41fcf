"""Whether the suite's figures are true: known cost and memory, what readers and a page cost."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from tools.selfcheck.known import check_known, check_live
from tools.selfcheck.live_cost import LIVE_TOLERANCE
from tools.selfcheck.overhead import OVERHEAD_TOLERANCE, check_overhead
from tools.selfcheck.row import TOLERANCE, Row
from tools.selfcheck.sampling_cost import SAMPLING_TOLERANCE, check_sampling


def run(trials: int) -> dict[str, Any]:
    """`trials` rounds of everything; each table is printed once its figures are known."""
    figures = _shown(check_known(trials), TOLERANCE)
    figures += _shown([check_overhead(4 * trials)], OVERHEAD_TOLERANCE)
    figures += _shown([check_sampling(4 * trials)], SAMPLING_TOLERANCE)
    taken, with_page = check_live(4 * trials)
    figures += _shown([taken], LIVE_TOLERANCE) + _shown(with_page, TOLERANCE)
    return {"figures": figures}


def _shown(rows: Sequence[Row], tolerance: float) -> list[dict[str, Any]]:
    """Prints the rows, and returns what is stored of them."""
    table = Table()
    for column in (
        "figure",
        "unit",
        "known",
        "seen",
        "error",
        "seen : known (95 %)",
        "holds within",
    ):
        table.add_column(column)
    for row in rows:
        table.add_row(
            row.name,
            row.unit,
            _numbers(row.known),
            _numbers(row.seen),
            f"{row.error:.1f}" if row.error else "",
            _interval(row),
            f"{'yes' if row.holds(tolerance) else 'NO'}, {tolerance:.1%}",
        )
    Console(width=200).print(table)
    return [
        {**row.model_dump(), "tolerance": tolerance, "holds": row.holds(tolerance)} for row in rows
    ]


def _numbers(values: list[float]) -> str:
    return ", ".join(f"{value:,.1f}" for value in values)


def _interval(row: Row) -> str:
    ratio = row.ratio
    interval = "" if ratio.low is None else f" ({ratio.low:.3f} to {ratio.high:.3f})"
    return f"{ratio.median:.3f}{interval}" if ratio.median is not None else ratio.reason
