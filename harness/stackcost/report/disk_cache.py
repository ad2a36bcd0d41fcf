"""A cache on a cold disk: hits, latency, and how long its event loop was blocked."""

from stackcost.analysis.spread import Spread
from stackcost.analysis.summary import Summary
from stackcost.report.http_figures import tail
from stackcost.report.text_table import TextTable
from stackcost.report.words import UNKNOWN, number, with_range

LOOP, POOL = "event loop", "thread pool"


def is_cache(summary: Summary) -> bool:
    """Whether any system of the run is a cache."""
    return any("cache.hit_ratio" in level for _, level in summary.loads)


def cache_table(summary: Summary) -> TextTable:
    """One row for each system and test; blocked time in percent of the wall time."""
    rows: list[tuple[str, ...]] = [
        (
            server.name,
            level.load,
            _percent(level["cache.hit_ratio"]),
            _percent(level["cache.disk_share"]),
            number(level["http.rate"].median),
            number((level["http.bandwidth"].median or 0) / 1e9),
            with_range(tail(level)),
            _percent(level.kinds("cache.blocked").get(LOOP)),
            _percent(level.kinds("cache.blocked").get(POOL)),
        )
        for server, level in summary.loads
        if level.http and "cache.hit_ratio" in level
    ]
    rows += [
        (each.name, "", *[UNKNOWN] * 6, f"not measured: {each.why}")
        for each in summary.not_measured
    ]
    return TextTable(
        "A cache on a cold disk: median (min-max of the rounds)",
        (
            "system",
            "test",
            "hits",
            "from disk",
            "requests/s",
            "Gb/s",
            "latency p99, us",
            "event loop blocked",
            "thread pool blocked",
        ),
        rows,
    )


def blocked_answer(summary: Summary) -> str:
    """A sentence about the blocked time of the event loop, for all tests."""
    found: dict[str, dict[str, float]] = {}
    for server, level in summary.loads:
        blocked = level.kinds("cache.blocked").get(LOOP) if "cache.hit_ratio" in level else None
        if blocked and blocked.median is not None:
            found.setdefault(level.load, {})[server.name] = blocked.median
    said = [
        f"{load}: " + ", ".join(f"{name} {share:.2%}" for name, share in shares.items())
        for load, shares in found.items()
    ]
    return "The event loop was blocked: " + "; ".join(said) + "." if said else ""


def _percent(one: Spread | None) -> str:
    if one is None or one.median is None or one.minimum is None or one.maximum is None:
        return UNKNOWN
    return f"{one.median:.2%} ({one.minimum:.2%}-{one.maximum:.2%})"
