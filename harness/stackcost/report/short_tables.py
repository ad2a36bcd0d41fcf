"""The tables for one screen: medians, and the spread of the compared figures."""

from collections.abc import Iterator, Sequence

from stackcost.analysis.spread import Spread
from stackcost.analysis.summary import Factor, Level, Memory, ServerResult, Summary
from stackcost.analysis.trial.thresholds import CONFIDENCE
from stackcost.report.text_table import TextTable
from stackcost.report.verdict_notes import CANNOT_TELL
from stackcost.report.words import (
    UNKNOWN,
    LatencyUnit,
    number,
    pair,
    range_or_reason,
    with_range,
)

MOST_LEVELS = 8  # rows; with more levels only the quoted level of each system is shown
COMPLETION = "completion"


def short_factor_table(summary: Summary) -> TextTable:
    """The known factors, each with its interval (below 6 rounds the range).

    The column of verdicts is present only if there were enough rounds for one.
    """
    known = [found for found in summary.factors if found.ratio.median is not None]
    verdicts = [found.comparison.verdict for found in known]
    judged = any(verdict != CANNOT_TELL for verdict in verdicts)
    return TextTable(
        "Cost factors: median (95 % interval; below 6 rounds the range)",
        ("cost", "first : second", "at", "first", "second", "factor", *(["verdict"] * judged)),
        [
            (
                "CPU, us" if found.name == "cpu" else "memory, bytes",
                pair(found.baseline, found.against),
                found.at,
                number(found.baseline_cost.median),
                number(found.against_cost.median),
                _times(found.ratio),
                *([verdict] * judged),
            )
            for found, verdict in zip(known, verdicts, strict=True)
        ],
    )


def unknown_factors(factors: Sequence[Factor]) -> list[str]:
    """A sentence for each reason why factors are unknown, with their systems."""
    pairs: dict[tuple[str, str, str], list[str]] = {}
    for found in factors:
        if found.ratio.median is None:
            kind = (found.name, found.at, found.ratio.reason)
            pairs.setdefault(kind, []).append(pair(found.baseline, found.against))
    return [
        f"{name} factor {', '.join(of)}{f', at {at}' if at else ''}: {UNKNOWN}: {reason}"
        for (name, at, reason), of in pairs.items()
    ]


def _times(ratio: Spread) -> str:
    if len(ratio.values) < 2:
        return f"{number(ratio.median)}x (1 round)"
    known = ratio.coverage is not None and ratio.coverage >= CONFIDENCE
    low, high = (ratio.low, ratio.high) if known else (ratio.minimum, ratio.maximum)
    return f"{number(ratio.median)}x ({number(low)}-{number(high)})"


def short_cost_table(summary: Summary) -> TextTable:
    """CPU per connection and its completion time by load; with many loads only the quoted ones.

    Kinds of CPU time are in the tables of `show --long` and of the report.
    """
    every = summary.loads
    shown = every if len(every) <= MOST_LEVELS else list(_quoted(summary.servers))
    latency = LatencyUnit(spread for _, level in shown for spread in _completion(level).values())
    times = ("p50", "p99") if latency.known else ()
    completion = f", and completion time, {latency.unit}" if times else ""
    few = "" if len(shown) == len(every) else "; one load per system"
    return TextTable(
        f"CPU of one connection, us{completion}: medians{few}",
        ("system", "load /s", "done /s", "CPU, us (range)", *times),
        [
            (
                server.name,
                f"{level.load}, {level.not_held}" if level.not_held else level.load,
                number(level["completed_cps"].median),
                with_range(level.cost),
                *(latency.median(_completion(level).get(name)) for name in times),
            )
            for server, level in shown
        ],
        named=2,
        reason=next((level.cost.reason for _, level in shown), ""),
    )


def _quoted(servers: Sequence[ServerResult]) -> Iterator[tuple[ServerResult, Level]]:
    for server in servers:
        if level := server.quoted or next(iter(server.levels), None):
            yield server, level


def _completion(level: Level) -> dict[str, Spread]:
    """Percentiles of the completion time; of several template groups the slowest."""
    groups = [kinds[COMPLETION] for kinds in level.latency.values() if COMPLETION in kinds]
    return max(groups, key=lambda each: each["p99"].median or 0.0, default={})


def short_memory_table(summary: Summary) -> TextTable:
    """Bytes per open flow: the total and its kinds."""
    rows = [
        (server.name, memory) for server in summary.servers if (memory := server.memory) is not None
    ]
    kinds = list(dict.fromkeys(kind for _, memory in rows for kind in memory.counted))
    return TextTable(
        "Memory of one open flow, bytes: medians",
        ("system", "total (range)", *kinds),
        [
            (
                name,
                range_or_reason(memory["memory.total"]),
                *(_counted(memory, kind) for kind in kinds),
            )
            for name, memory in rows
        ],
    )


def _counted(memory: Memory, kind: str) -> str:
    return number(memory.kinds("memory.per_flow")[kind].median) if kind in memory.counted else ""
