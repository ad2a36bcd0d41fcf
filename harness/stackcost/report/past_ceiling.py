"""Latency at rates up to and above the ceiling, compared with that of closed loops."""

from stackcost.analysis.memory.memory import fit
from stackcost.analysis.spread import Spread, spread
from stackcost.analysis.summary import Level, Summary
from stackcost.report.http_figures import tail
from stackcost.report.text_table import TextTable
from stackcost.report.words import UNKNOWN, number, with_range

INTENDED = "completion"
CLOSED = "closed loop"


def at_rates(summary: Summary) -> bool:
    """Whether any test offered rates."""
    return any(level.http and level.offered_cps for _, level in summary.loads)


def latency_at_rates(summary: Summary) -> TextTable:
    """Rows by rate, then the closed loops, with both ways of timing for the same requests."""
    rows: list[tuple[str, ...]] = [
        (
            server.name,
            level.test,
            number(level.offered_cps) if level.offered_cps else CLOSED,
            with_range(level["http.rate"]),
            with_range(level["http.unsent"]) if level.offered_cps else "",
            _p99(level, INTENDED),
            _p99(level, "request", "connection"),
        )
        for server, level in summary.loads
        if level.http and level.http.measures == "latency"
    ]
    return TextTable(
        "Latency, 99th percentile in microseconds: median (min-max of the rounds)",
        (
            "system",
            "test",
            "offered/s",
            "answered/s",
            "scheduled, not answered",
            "from the intended start",
            "from sending",
        ),
        rows,
    )


def collapse(summary: Summary) -> str:
    """A sentence: how much the two ways of timing differ above the ceiling."""
    said = []
    for server in summary.servers:
        rated = [level for level in server.levels if level.http and level.offered_cps]
        past = [level for level in rated if _answered(level) < 0.98]
        if not past:
            continue
        worst = past[-1]
        intended, sent = (tail(worst, kind) for kind in (INTENDED, "request"))
        closed = [
            level for level in server.levels if level.http and level.test.startswith("closed")
        ]
        others = ", ".join(
            f"{level.http.program} {_ms(tail(level, 'request', 'connection'))}"
            for level in closed
            if level.http
        )
        said.append(
            f"{server.name}: {worst.offered_cps:,.0f} requests/s were offered, "
            f"{number(worst['http.rate'].median if worst.http else None)} were answered. The 99th "
            f"percentile from the intended start is {_ms(intended)}, from sending it is {_ms(sent)}"
            + (f"; closed loops at their ceiling measure {others}" if others else "")
            + "."
        )
    return " ".join(said) or "No rate was above the ceiling: all requests were answered."


def process_memory(summary: Summary) -> TextTable:
    """Memory of the server's processes over connections, all trials with as many of them as one
    row, and the slope through these.
    """
    rows: list[tuple[str, ...]] = []
    for server in summary.servers:
        read: dict[float, list[float]] = {}
        for level in server.levels:
            if level.http and level["process_memory"] and level.http.measures == "latency":
                count = float(level.http.processes * level.http.connections)
                read.setdefault(count, []).extend(level["process_memory"].values)
        points = [(count, spread(values, "B")) for count, values in sorted(read.items())]
        known = [(count, each.median) for count, each in points if each.median is not None]
        line = fit(known)
        rows += [
            (
                server.name,
                f"{count:,.0f}",
                with_range(each),
                number(line.slope) if line else UNKNOWN,
            )
            for count, each in points
        ]
    return TextTable(
        "Memory of the server's own processes, bytes, without the kernel's memory",
        ("system", "connections of clients", "memory", "bytes per connection (slope)"),
        rows,
    )


def _answered(level: Level) -> float:
    assert level.http is not None
    return (level["http.rate"].median or 0.0) / level.offered_cps


def _p99(level: Level, *kinds: str) -> str:
    found = tail(level, *kinds)
    return with_range(found) if found else ""


def _ms(one: Spread | None) -> str:
    return UNKNOWN if one is None or one.median is None else f"{one.median / 1000:,.1f} ms"
