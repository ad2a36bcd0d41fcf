"""The cost and the duration of a connection at every load."""

from collections.abc import Iterator, Mapping

from stackcost.analysis.spread import Spread
from stackcost.analysis.summary import PUBLISHED_TCP, Level, Summary
from stackcost.contracts.latency import PERCENTILES, TAIL
from stackcost.report.tables.latency_unit import LatencyUnit
from stackcost.report.text_table import TextTable
from stackcost.report.words import UNKNOWN, number, share, with_range

NAGLE = (
    "TCP uses the published settings: a peer's last, small segment may wait for a delayed ACK of "
    "100 ms (Nagle), which is not the stack's own time"
)

SHARES = ("opened", "late", "busy")  # of each of several generators


def load_table(summary: Summary) -> TextTable:
    """CPU per connection at every load, and separately that of the generator."""
    return TextTable(
        "CPU per completed connection, microseconds: median (min-max of the rounds)",
        ("server", "offered /s", "completed /s", "server's side", "by kind", "generator", "busy"),
        [
            (
                server.name,
                f"{level.load}, {level.not_held}" if level.not_held else level.load,
                number(level["completed_cps"].median),
                with_range(level["server_cpu_total"]),
                _server_kinds(level),
                _kinds(level.kinds("generator_cpu")),
                share(level["generator_busy"].median),
            )
            for server in summary.servers
            for level in server.levels
        ],
    )


def generator_table(summary: Summary) -> TextTable:
    """The part of each of several generators in every load; empty where a single one made it."""
    return TextTable(
        "Generators: their parts of each load, and how they kept up (median)",
        ("server", "offered /s", "generator", "part", "opened", "late", "busy", "started after s"),
        [
            (
                server.name,
                level.load,
                name,
                share(generator.part),
                *(share(level[f"generators.{each}.{name}"].median) for each in SHARES),
                number(level[f"generators.started.{name}"].median),
            )
            for server in summary.servers
            for level in server.levels
            for name, generator in level.generators.items()
        ],
        named=3,
    )


def _server_kinds(level: Level) -> str:
    """Costs by kind; also those that are not in the total: for a polling peer the kernel's work on
    its core, for others what the idle task did.
    """
    text = _kinds(level.kinds("server_cpu"))
    idle = level.kinds("idle_task")
    beside = _kinds({**level.kinds("peer_kernel_cpu"), **(idle if _known(idle) else {})})
    return f"{text} (not included: {beside})" if beside else text


def _kinds(costs: Mapping[str, Spread]) -> str:
    return ", ".join(f"{kind} {number(cost.median)}" for kind, cost in costs.items())


def breakdown_table(summary: Summary) -> TextTable:
    """The use of the server's cores in more detail than by kind."""
    return TextTable(
        "The server's cores in detail, microseconds per completed connection (median)",
        ("server", "offered /s", "softirq by vector", "threads", "cycles and instructions"),
        [
            (
                server.name,
                level.load,
                _kinds(level.kinds("softirq")),
                _kinds(level.kinds("threads")),
                _kinds(hardware) if _known(hardware) else _reason(hardware),
            )
            for server in summary.servers
            for level in server.levels
            for hardware in [level.kinds("hardware")]
        ],
    )


def _known(costs: Mapping[str, Spread]) -> bool:
    return any(cost.median is not None for cost in costs.values())


def _reason(costs: Mapping[str, Spread]) -> str:
    return next((f"{UNKNOWN}: {cost.reason}" for cost in costs.values()), UNKNOWN)


def latency_table(summary: Summary) -> TextTable:
    """Times of connections from their intended start, by template group and kind."""
    unit = LatencyUnit(_percentiles(summary))
    return TextTable(
        f"Latency from the intended start, {unit.unit}: median (min-max of the rounds)"
        + _tail_words(summary)
        + (f"; {NAGLE}" if summary.tcp == PUBLISHED_TCP and not summary.has_tests else ""),
        ("server", "offered /s", "until", "timed", *PERCENTILES),
        [
            (
                server.name,
                level.load,
                f"{group}: {kind}" if group else kind,
                timed_of(level, group, kind),
                *(
                    unit.with_range(percentiles[name]) if name in percentiles else UNKNOWN
                    for name in PERCENTILES
                ),
            )
            for server in summary.servers
            for level in server.levels
            for group, kinds in level.latency.items()
            for kind, percentiles in kinds.items()
        ],
        named=3,
        reason=next((each.reason for each in _percentiles(summary) if each.reason), ""),
    )


def _tail_words(summary: Summary) -> str:
    """Why percentiles of the tail are missing, if any row lacks them."""
    missing = {
        name: spread.reason
        for server in summary.servers
        for level in server.levels
        for kinds in level.latency.values()
        for percentiles in kinds.values()
        if percentiles["max"].median is not None
        for name in TAIL
        if (spread := percentiles.get(name)) and spread.median is None
    }
    return "".join(f"; {name} is missing in some rows: {why}" for name, why in missing.items())


def timed_of(level: Level, group: str, kind: str) -> str:
    """How many connections are in the percentiles, of how many: "379 of 500"."""
    number_of = level.timed.get(group, {}).get(kind)
    if number_of is None:
        return UNKNOWN
    whole = level.attempted if len(level.latency) == 1 else None
    # Those of the window's edges began before it or end after it.
    return f"{number_of:,}" + (f" of {max(whole, number_of):,}" if whole else "")


def _percentiles(summary: Summary) -> Iterator[Spread]:
    for server in summary.servers:
        for level in server.levels:
            for kinds in level.latency.values():
                for percentiles in kinds.values():
                    yield from percentiles.values()
